import { deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { fixture, PLAIN } from './intake.ts';
import { base64, mail, multipart, text } from './mail.ts';
import { zip } from './zip.ts';

/** One valid example of each kind, which the tests corrupt. */
export const SOUND: readonly Buffer[] = [
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

export function spoil(bytes: Buffer, { at, length, how, bits }: Spoiling): Buffer {
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

export const spoilings: fc.Arbitrary<readonly Spoiling[]> = fc.array(spoiling, {
  minLength: 1,
  maxLength: 6,
});
