import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { chooseCoding, encode } from '../../src/domain/content-coding.ts';

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

describe('content', () => {
  const bytes = Buffer.from('a'.repeat(5_000));

  test('decodes to its bytes', async () => {
    const content = { bytes, coded: {} };
    expect(await encode(content, 'identity')).toBe(bytes);
    expect(gunzipSync(await encode(content, 'gzip'))).toEqual(bytes);
    expect(brotliDecompressSync(await encode(content, 'br', 5))).toEqual(bytes);
  });

  test('is encoded once in each coding', async () => {
    const content = { bytes, coded: {} };
    const [first, second] = await Promise.all([encode(content, 'br'), encode(content, 'br')]);
    expect(second).toBe(first);
  });
});
