import { deflateRawSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Budget } from '../../../src/intake/budget.ts';
import { readDocuments } from '../../../src/intake/containers/documents.ts';
import { localParser } from '../../../src/intake/parser/parser.ts';
import { createVerifier } from '../../../src/intake/verification/verifier.ts';
import { aReportXml } from '../../support/inbox.ts';
import { NOW } from '../../support/intake.ts';
import { aKey, signMail } from '../../support/signed-mail.ts';
import { zip } from '../../support/zip.ts';

const KEY = aKey();
const verify = createVerifier({
  ask: async () => [[KEY.record]],
  ...{ check: localParser.check, trustedServers: [], trustedNetworks: [] },
});

async function findFrom(bytes: Buffer) {
  const [verdict] = await verify([{ bytes, envelope: {}, receivedAt: '2026-03-15T04:12:09Z' }]);
  return verdict?.from;
}

/** The ids of the reports in a mail, as the reader of one that is verified finds them, or of any other. */
async function listReports(bytes: Buffer, isVerified: boolean) {
  const budget = new Budget(bytes.length);
  const found = readDocuments(bytes, { nowMs: NOW, budget, isVerified });
  const documents = await Array.fromAsync(found);
  return documents.map((one) => (one.kind === 'report' ? one.report.metadata.reportId : one.kind));
}

const FORGED = aReportXml('forged');
const IN_BASE64 = Buffer.from(FORGED).toString('base64');
const QUOTED = FORGED.replaceAll('=', '=3D');
/** Text of strangers that a reporter's servers sign: in a body that is read in another way, it is a report. */
const TEXTS = [
  `Dear all,\n\nFrom a\nContent-Type: text/xml\n\n${FORGED}`,
  `Dear all,\n\n--x\nContent-Type: text/xml\n\n${FORGED}\n--x--`,
  `Dear all,\n\n--x\nContent-Type: text/xml\nContent-Transfer-Encoding: base64\n\n${IN_BASE64}\n--x--\n`,
  `!${IN_BASE64}`,
  `begin 644 a\n${FORGED}`,
  QUOTED.replace('<?xml', '=3C?xml').replace('<feedback', '=3Cfeedback'),
];
const HONEST = `--honest\nContent-Type: text/xml\n\n${aReportXml('honest')}\n--honest\n`;
const BODIES = TEXTS.flatMap((text) => [
  { type: 'text/plain', body: text },
  {
    type: 'multipart/mixed; boundary=honest',
    body: `${HONEST}Content-Type: text/plain\n\n${text}\n--honest--\n`,
  },
]);

const ALL = ['From', 'To', 'Subject', 'Content-Type', 'MIME-Version', 'Content-Transfer-Encoding'];
const SIGNED = [ALL, ALL.slice(0, 5), ALL.slice(0, 4), ['From', 'Subject'], ['From', 'To', 'Date']];

const toMail = ({ type, body }: (typeof BODIES)[number]): Buffer => {
  const fields = [
    'From: dmarc@reporter.example',
    'To: rua@example.com',
    'Subject: Report domain: x',
  ];
  const all = [...fields, 'MIME-Version: 1.0', `Content-Type: ${type}`, '', body];
  return Buffer.from(all.join('\n').replaceAll('\n', '\r\n'), 'latin1');
};

const TYPES = ['multipart/mixed; boundary=x', 'text/xml', 'application/gzip', 'message/rfc822'];
const NAMES = [
  'Content-Type',
  'ContentType',
  'content-type ',
  'Content-Type\r\n ',
  'Content-Type\0',
];
const ENCODINGS = ['base64', 'quoted-printable', 'uuencode'];
const FIELDS = fc.oneof(
  fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom(...TYPES)),
  fc.tuple(fc.constantFrom('Content-Transfer-Encoding'), fc.constantFrom(...ENCODINGS)),
  fc.tuple(
    fc.constantFrom('From', 'MIME-Version', 'X', '\tX', '\u00a0X'),
    fc.constantFrom('1.0', 'a@other.example'),
  ),
);
const STARTS = [
  ...[
    'From a Sun Mar 15 04:12:09 2026\r\n',
    'From a\n',
    '>From a\r\n',
    '\r\n',
    '\n',
    ' \r\n',
    '\r',
  ],
  ...['20\r\n', '2000\n', '\ufeff', `${FORGED.replaceAll(/\s+/g, ' ')}\r\n`, 'X\r\n'],
].map((text) => Buffer.from(text));
const ARCHIVES = [
  gzipSync(FORGED),
  zip([{ name: 'a.xml', content: FORGED }]),
  Buffer.concat([Buffer.from([0x78, 0x9c]), deflateRawSync(FORGED)]),
].map((archive) => Buffer.concat([archive, Buffer.from('\r\n')]));

const toRows = (mail: Buffer) => {
  const text = mail.toString('latin1');
  const end = text.indexOf('\r\n\r\n');
  return { rows: text.slice(0, end).split(/\r\n(?![ \t])/), rest: text.slice(end) };
};
const fromRows = (rows: readonly string[], rest: string) =>
  Buffer.from(rows.join('\r\n') + rest, 'latin1');

type Mutate = (mail: Buffer) => Buffer;
const place = fc.nat(9);
const MUTATIONS: fc.Arbitrary<Mutate> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(...STARTS, ...ARCHIVES).map(
      (start): Mutate =>
        (mail) =>
          Buffer.concat([start, mail]),
    ),
  },
  {
    weight: 5,
    arbitrary: fc.tuple(FIELDS, place).map(
      ([[name, value], at]): Mutate =>
        (mail) => {
          const { rows, rest } = toRows(mail);
          return fromRows(rows.toSpliced(at, 0, `${name}: ${value}`), rest);
        },
    ),
  },
  fc.tuple(place, place).map(
    ([from, to]): Mutate =>
      (mail) => {
        const { rows, rest } = toRows(mail);
        const moved = rows[from % rows.length] ?? '';
        return fromRows(rows.toSpliced(from % rows.length, 1).toSpliced(to, 0, moved), rest);
      },
  ),
  place.map(
    (at): Mutate =>
      (mail) => {
        const { rows, rest } = toRows(mail);
        return fromRows(
          rows.map((row, i) => (i === at ? row.replace(' ', '\r\n ') : row)),
          rest,
        );
      },
  ),
  fc.constantFrom<Mutate>(
    (mail) => Buffer.from(mail.toString('latin1').replaceAll('\r\n', '\n'), 'latin1'),
    (mail) => Buffer.from(`\ufeff${mail.toString('latin1')}`, 'utf16le'),
    (mail) => Buffer.concat([mail, Buffer.from(FORGED)]),
  ),
);

test('of 200 changes to signed mails, none is believed that is not read as what was signed', async () => {
  const [believed, forged] = [{ count: 0 }, { count: 0 }];
  const input = fc.tuple(
    fc.constantFrom(...BODIES),
    fc.constantFrom(...SIGNED),
    fc.array(MUTATIONS, { minLength: 1, maxLength: 2 }),
  );
  await fc.assert(
    fc.asyncProperty(input, async ([body, fields, mutations]) => {
      const signed = await signMail(toMail(body), KEY, { fields });
      const changed = mutations.reduce((mail, mutate) => mutate(mail), signed);
      forged.count += Number((await listReports(changed, false)).includes('forged'));
      if ((await findFrom(changed)) !== 'dmarc@reporter.example') return;
      believed.count += 1;
      expect(await listReports(changed, true)).toEqual(await listReports(signed, true));
    }),
    { numRuns: 200, seed: 2026 },
  );
  // Otherwise nothing was tried.
  expect(believed.count).toBeGreaterThan(20);
  expect(forged.count).toBeGreaterThan(20);
});
