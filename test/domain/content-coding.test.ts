import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { chooseCoding, compress, compressOnce } from '../../src/domain/content-coding.ts';

describe('the coding of an answer', () => {
  test.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip, deflate, br', 'gzip'],
    ['br, gzip', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0.5, gzip', 'gzip'],
    ['br;q=0, *', 'gzip'],
    ['identity', 'identity'],
    ['zstd', 'identity'],
    ['identity;q=0, *;q=0', 'identity'],
  ])('for Accept-Encoding: %s is %s', (accepted, coding) => {
    const headers = accepted === undefined ? {} : { 'accept-encoding': accepted };
    expect(chooseCoding({ headers }, ['br', 'gzip'])).toBe(coding);
  });

  test('is one that is offered', () => {
    expect(chooseCoding({ headers: { 'accept-encoding': 'br, gzip;q=0.5' } }, ['gzip'])).toBe(
      'gzip',
    );
  });
});

test.each([
  ['gzip', gunzipSync],
  ['br', brotliDecompressSync],
] as const)(
  'what is compressed with %s decompresses to the same bytes',
  async (coding, decompress) => {
    const bytes = Buffer.from('a'.repeat(5_000));
    const compressed = await compress(bytes, coding);
    expect(compressed.length).toBeLessThan(bytes.length);
    expect(decompress(compressed)).toEqual(bytes);
  },
);

test.each([
  ['gzip', gunzipSync],
  ['br', brotliDecompressSync],
] as const)(
  'bodies that are compressed with %s one after another have nothing of each other',
  async (coding, decompress) => {
    const bodies = [3, 70_000, 1_400, 0, 65_536, 20_000].map((length, at) =>
      Buffer.from(Array.from({ length }, (_, place) => (place * (at + 7)) % 251)),
    );
    const compressed = await Promise.all(bodies.map((body) => compressOnce(body, coding)));
    expect(compressed.map((body) => decompress(body))).toEqual(bodies);
  },
);
