import { randomBytes } from 'node:crypto';
import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { unpackOriginal } from '../../src/domain/reports/original.ts';
import { Budget } from '../../src/intake/budget.ts';
import { readDocuments } from '../../src/intake/containers/documents.ts';
import type { IntakeDocument } from '../../src/intake/intake-document.ts';
import { NOW, PLAIN, plainWith, readAll } from '../support/intake.ts';
import { base64, mail, multipart, text } from '../support/mail.ts';
import { zip } from '../support/zip.ts';

const MIB = 1024 * 1024;
const SECOND = plainWith('2026-0001', '2026-0002');
const BROKEN = PLAIN.replace('</feedback>', '');
const DOCTYPE = PLAIN.replace('<feedback', '<!DOCTYPE x><feedback');
const GZIP = gzipSync(PLAIN);
const ZIP = zip([{ name: 'report.xml', content: PLAIN }]);
const TWO = zip([
  { name: 'a.xml', content: PLAIN },
  { name: 'b.xml.gz', content: gzipSync(SECOND) },
]);

type Kept = Extract<IntakeDocument, { path: string }>;

async function keptOf(input: Uint8Array | string): Promise<Kept[]> {
  return (await readAll(input)).filter((document) => document.kind !== 'ignored');
}

/** The paths of the documents, and the bytes that are kept of each; `whole` stands for the input, null for none. */
async function originalsOf(input: Uint8Array | string) {
  const found: [string, Uint8Array | 'whole' | null][] = [];
  for (const { path, original } of await keptOf(input)) {
    const bytes = original && (await unpackOriginal(original));
    found.push([path, bytes === undefined ? 'whole' : bytes && Buffer.from(bytes)]);
  }
  return found;
}

const toMailbox = (mails: readonly Uint8Array[]) =>
  Buffer.concat(
    mails.flatMap((one) => [
      Buffer.from('From reporter@example.net Thu Jan  1 00:00:00 2026\n'),
      one,
      Buffer.from('\n\n'),
    ]),
  );

describe('what is kept of an input', () => {
  test.each<[string, Uint8Array | string]>([
    ['XML', PLAIN],
    ['a gzip', GZIP],
    ['a gzip in a gzip', gzipSync(GZIP)],
    ['zlib data', deflateSync(PLAIN)],
    ['a zip with one file', ZIP],
    ['a zip with one file, in a gzip', gzipSync(ZIP)],
    ['something without a report', 'nothing'],
    ['a mail without a report', mail(text('Hello'))],
    ['a truncated gzip', GZIP.subarray(0, 300)],
  ])('%s is kept whole', async (_what, input) => {
    expect(await originalsOf(input)).toEqual([['', 'whole']]);
  });

  const HELLO = text('Hello');
  const XML = Buffer.from(PLAIN);
  test.each<[string, Uint8Array, [string, Uint8Array][]]>([
    ['a mail: the attachment', mail(multipart([HELLO, base64(GZIP)])), [['2', GZIP]]],
    ['a mail whose body is a zip: the zip', mail(base64(ZIP)), [['1', ZIP]]],
    ['a mail whose text is XML: the text', mail(text(PLAIN)), [['1', XML]]],
    [
      'a mail with two reports: each attachment',
      mail(multipart([base64(GZIP), HELLO, base64(SECOND)])),
      [
        ['1', GZIP],
        ['3', Buffer.from(SECOND)],
      ],
    ],
    [
      'an archive with several: each file',
      TWO,
      [
        ['1', XML],
        ['2', gzipSync(SECOND)],
      ],
    ],
    [
      'an archive in a mail: each file',
      mail(multipart([HELLO, base64(TWO)])),
      [
        ['2.1', XML],
        ['2.2', gzipSync(SECOND)],
      ],
    ],
    [
      'a mailbox: each attachment',
      toMailbox([mail(base64(GZIP)), mail(multipart([HELLO, base64(ZIP)]))]),
      [
        ['1.1', GZIP],
        ['2.2', ZIP],
      ],
    ],
    [
      'a broken report beside a good one: both',
      mail(multipart([base64(BROKEN), base64(GZIP)])),
      [
        ['1', Buffer.from(BROKEN)],
        ['2', GZIP],
      ],
    ],
    [
      'what was refused before its end, to its end',
      mail(base64(DOCTYPE + ' '.repeat(500_000))),
      [['1', Buffer.from(DOCTYPE + ' '.repeat(500_000))]],
    ],
    [
      'what is nested too deep',
      mail(base64(gzipSync(gzipSync(GZIP)))),
      [['1', gzipSync(gzipSync(GZIP))]],
    ],
    [
      'a report of several mebibytes in a mail',
      mail(base64(PLAIN + ' '.repeat(3 * MIB))),
      [['1', Buffer.from(PLAIN + ' '.repeat(3 * MIB))]],
    ],
  ])('%s', async (_what, input, wanted) => {
    expect(await originalsOf(input)).toEqual(wanted);
  });

  test('that was packed when it came is kept as it came, and XML compressed', async () => {
    const [gzip, xml] = await keptOf(mail(multipart([base64(GZIP), base64(PLAIN)])));
    expect(gzip?.original).toMatchObject({ encoding: 'as_is', size: GZIP.length });
    expect(xml?.original).toMatchObject({ encoding: 'zstd', size: PLAIN.length });
    expect(xml?.original?.content.length).toBeLessThan(PLAIN.length / 2);
  });
});

test.each([
  ['a gzip with a name of a mebibyte', withName(gzipSync(PLAIN), MIB)],
  ['a gzip with a mebibyte behind it', Buffer.concat([gzipSync(PLAIN), randomBytes(MIB)])],
  ['a zip with a mebibyte behind it', Buffer.concat([ZIP, randomBytes(MIB)])],
])('of %s, only its report is kept', async (_what, input) => {
  const wanted = Buffer.from(PLAIN);
  expect(await originalsOf(input)).toEqual([['', wanted]]);
  expect(await originalsOf(mail(base64(input)))).toEqual([['1', wanted]]);
});

function withName(gzip: Buffer, length: number): Buffer {
  const header = Buffer.from(gzip.subarray(0, 10));
  header[3] = 8;
  return Buffer.concat([header, Buffer.alloc(length, 'n'), Buffer.from([0]), gzip.subarray(10)]);
}

describe('nothing is kept', () => {
  const large = `${DOCTYPE}${' '.repeat(8 * MIB)}`;
  test.each<[string, Uint8Array, unknown[]]>([
    [
      'of a damaged member of an archive, whose bytes would look sound',
      zip([
        { name: 'a.xml', content: PLAIN, crc: 1 },
        { name: 'b.xml', content: SECOND },
      ]),
      [
        ['1', null],
        ['2', Buffer.from(SECOND)],
      ],
    ],
    ['of a large document that was refused at its beginning', mail(base64(large)), [['1', null]]],
  ])('%s', async (_what, input, wanted) => {
    expect(await originalsOf(input)).toEqual(wanted);
  });

  test('of documents that would take much more than the input', async () => {
    // The gzip packs what is repeated, and no other packs a single one.
    const noise = `${PLAIN}<!-- ${randomBytes(8_000).toString('hex')} -->`;
    const members = Array.from({ length: 200 }, () => ({
      name: 'r',
      content: noise,
      isStored: true,
    }));
    const input = gzipSync(zip(members), { level: 9 });
    expect(input.length).toBeLessThan(100_000);
    const originals = (await originalsOf(input)).map(([, original]) => original);
    expect(originals.slice(0, 50)).toEqual(Array(50).fill(Buffer.from(noise)));
    expect(originals.slice(-50)).toEqual(Array(50).fill(null));
  });
});

test('an input that is not read to its end is kept whole', async () => {
  const budget = new Budget(TWO.length, { unpackedBytes: PLAIN.length + 100 });
  const documents = await Array.fromAsync(readDocuments(TWO, { nowMs: NOW, budget }));
  expect(documents).toMatchObject([
    { kind: 'report', path: '1', original: { size: PLAIN.length } },
    { kind: 'rejected', path: '', refusal: { reason: 'too_large' } },
  ]);
  expect(documents[1]).not.toHaveProperty('original');
});

describe('the original of a report', () => {
  const inputs = {
    'a mail': mail(multipart([text('Hello'), base64(GZIP), base64(SECOND)])),
    'an archive': TWO,
    'a mailbox': toMailbox([mail(base64(TWO)), mail(base64(PLAIN))]),
  };
  test.each(Object.entries(inputs))('of %s gives the same report again', async (_what, input) => {
    for (const document of await keptOf(input)) {
      const bytes = document.original && (await unpackOriginal(document.original));
      const [again, ...others] = await readAll(bytes as Uint8Array);
      if (document.kind !== 'report' || again?.kind !== 'report') throw new Error('No report');
      expect(again.report).toEqual(document.report);
      expect([again.path, others]).toEqual(['', []]);
    }
  });
});
