/** Hostile mails of the kinds that are known, each in another size, in other company and in another order. */
import fc from 'fast-check';
import { HOSTILE_CONTAINERS } from './containers.ts';
import { COSTLY } from './costly.ts';
import type { Hostile } from './hostile.ts';
import { HOSTILE_MAILS } from './mail.ts';
import { HOSTILE_ARCHIVES } from './many.ts';
import { aReportWith, HOSTILE_VALUES } from './values.ts';
import { hostileXml } from './xml.ts';

/** The most that a door takes. */
const MAX_BYTES = 20 * 1024 * 1024;
const MAX_XML_CHARS = 60 * 1024 * 1024;

/** A kind in any size, or in the one that it has. */
type Kind = readonly [name: string, make: (size: number) => Buffer];

const ofOneSize = (all: readonly Hostile[]): Kind[] => all.map(({ name, bytes }) => [name, bytes]);

const KINDS: readonly Kind[] = [
  // Most of them are of costs that were once not counted.
  ...Array.from({ length: 4 }, () => Object.entries(COSTLY)).flat(),
  ...ofOneSize([...HOSTILE_CONTAINERS, ...HOSTILE_MAILS, ...HOSTILE_ARCHIVES, ...HOSTILE_VALUES]),
  ...hostileXml(0).map(
    ({ name }, i): Kind => [
      name,
      (size) => hostileXml(Math.floor(MAX_XML_CHARS * size))[i]?.bytes() ?? Buffer.alloc(0),
    ],
  ),
];

const SIGNATURES = ['relaxed/relaxed', 'relaxed/simple', 'simple/simple', 'simple/relaxed'].map(
  (way) =>
    `DKIM-Signature: v=1; a=rsa-sha256; s=s1; h=from; bh=AA==; b=AA==; c=${way}; d=reporter.example`,
);
const FIELDS = ['From: dmarc@reporter.example', 'MIME-Version: 1.0', 'Subject: Report domain: x'];

const IS_MAIL = /^(?:From|MIME-Version|Content-Type|DKIM-Signature):/;

/** A part with these bytes: a mail as it is, all else as an attachment. */
function toPart(bytes: Buffer): Buffer {
  if (IS_MAIL.test(bytes.toString('latin1', 0, 100)))
    return Buffer.concat([Buffer.from('Content-Type: message/rfc822\r\n\r\n'), bytes]);
  const text = bytes.toString('base64').replaceAll(/.{76}/g, '$&\r\n');
  const fields = 'Content-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64';
  return Buffer.from(`${fields}\r\n\r\n${text}`, 'latin1');
}

function toMail(fields: readonly string[], parts: readonly Buffer[]): Buffer {
  const header = [...fields, 'Content-Type: multipart/mixed; boundary=generated', '', ''];
  const bodies = parts.flatMap((part) => [
    Buffer.from('--generated\r\n'),
    part,
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([
    Buffer.from(header.join('\r\n')),
    ...bodies,
    Buffer.from('--generated--\r\n'),
  ]);
}

const REPORT = Buffer.from(aReportWith({ id: 'beside' }));

/** What a mail is made of. */
const MADE = fc.record({
  kinds: fc.array(fc.tuple(fc.constantFrom(...KINDS), fc.double({ min: 0, max: 1, noNaN: true })), {
    ...{ minLength: 1, maxLength: 3, size: 'max' },
  }),
  isAlone: fc.boolean(),
  /** Where an honest report is among the parts. */
  place: fc.nat(3),
  signatures: fc.subarray(SIGNATURES),
  order: fc.shuffledSubarray([0, 1, 2], { minLength: 3 }),
});

type Made = ReturnType<typeof MADE.generate>['value'];

function toBytes({ kinds, isAlone, place, signatures, order }: Made): Buffer {
  for (let factor = 1; ; factor /= 2) {
    // Large sizes are as likely as small ones.
    const made = kinds.map(([[, make], size]) => make(Math.max(0.01, size ** 0.5 * factor)));
    const [only = REPORT] = made;
    const isMail = IS_MAIL.test(only.toString('latin1', 0, 100));
    const fields = [...signatures, ...order.map((at) => FIELDS[at] ?? '')];
    const parts = made.map(toPart).toSpliced(place, 0, toPart(REPORT));
    const bytes = isAlone && isMail ? only : toMail(fields, isAlone ? [toPart(only)] : parts);
    if (bytes.length <= MAX_BYTES || factor < 0.01) return bytes.subarray(0, MAX_BYTES);
  }
}

/** So many mails, the same ones for each seed. */
export function generateHostileMails(count: number, seed: number): Hostile[] {
  return fc.sample(MADE, { numRuns: count, seed }).map((made, i) => {
    const kinds = made.kinds.slice(0, made.isAlone ? 1 : undefined).map(([[name]]) => name);
    return { name: `${i + 1}: ${kinds.join(' + ')}`, bytes: () => toBytes(made) };
  });
}
