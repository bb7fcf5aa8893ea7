import { deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fixture, PLAIN, readAll } from '../support/intake.ts';
import { base64, mail, multipart, text } from '../support/mail.ts';
import { zip } from '../support/zip.ts';

/** One valid example of each kind, which the tests corrupt. */
const SOUND: readonly Buffer[] = [
  Buffer.from(PLAIN),
  fixture('ikea-stray-schema.xml'),
  fixture('aol-windows-1252.xml'),
  Buffer.from(`\ufeff${PLAIN}`, 'utf16le'),
  gzipSync(PLAIN),
  deflateSync(PLAIN),
  zip([
    { name: 'a.xml', content: PLAIN },
    { name: 'b.xml', content: PLAIN, isStored: true },
  ]),
  mail(multipart([text('Hello'), base64(gzipSync(PLAIN)), text(PLAIN, 'text/xml')])),
  Buffer.concat([Buffer.from('From a@example.net\n'), mail(base64(PLAIN)), Buffer.from('\n\n')]),
];

interface Spoiling {
  readonly at: number;
  readonly length: number;
  readonly how: 'flip' | 'cut' | 'double' | 'end';
  readonly bits: number;
}

const spoiling: fc.Arbitrary<Spoiling> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.integer({ min: 1, max: 64 }),
  how: fc.constantFrom('flip', 'cut', 'double', 'end'),
  bits: fc.integer({ min: 1, max: 255 }),
});

function spoil(bytes: Buffer, { at, length, how, bits }: Spoiling): Buffer {
  const start = Math.floor(at * bytes.length);
  const [before, piece, after] = [
    bytes.subarray(0, start),
    bytes.subarray(start, start + length),
    bytes.subarray(start + length),
  ];
  if (how === 'end') return before;
  if (how === 'cut') return Buffer.concat([before, after]);
  if (how === 'double') return Buffer.concat([before, piece, piece, after]);
  return Buffer.concat([before, piece.map((byte) => byte ^ bits), after]);
}

async function expectDocuments(bytes: Uint8Array): Promise<void> {
  const documents = await readAll(bytes);
  expect(documents.length).toBeGreaterThanOrEqual(1);
  expect(documents.length).toBeLessThanOrEqual(20);
  for (const document of documents) {
    expect(['report', 'rejected', 'ignored']).toContain(document.kind);
    if (document.kind === 'report')
      expect(Number.isSafeInteger(document.report.tally.totalMessages)).toBe(true);
  }
}

test('any bytes give at least one document, and never an error', async () => {
  await fc.assert(fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), expectDocuments), {
    numRuns: 300,
  });
});

test('bytes that begin like a known kind give at least one document', async () => {
  const start = fc.constantFrom(
    '\x1f\x8b\x08',
    'PK\x03\x04',
    'PK\x05\x06',
    'x\x9c',
    '<?xml ',
    '<feedback>',
    'From: a\n',
  );
  const source = fc.tuple(start, fc.uint8Array({ maxLength: 500 }));
  await fc.assert(
    fc.asyncProperty(source, ([head, tail]) =>
      expectDocuments(Buffer.concat([Buffer.from(head, 'latin1'), tail])),
    ),
    { numRuns: 500 },
  );
});

test('corrupted reports, archives and mails give at least one document', async () => {
  const source = fc.tuple(
    fc.constantFrom(...SOUND),
    fc.array(spoiling, { minLength: 1, maxLength: 6 }),
  );
  await fc.assert(
    fc.asyncProperty(source, ([sound, spoilings]) =>
      expectDocuments(spoilings.reduce(spoil, sound)),
    ),
    { numRuns: 1500 },
  );
}, 30_000);
