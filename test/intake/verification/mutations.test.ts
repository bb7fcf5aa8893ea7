import { deflateRawSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { domainOf } from '../../../src/domain/reports/report.ts';
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

/** Whether it is known who sent a mail, or who signed it, which counts for TLS reports. */
async function isBelieved(bytes: Buffer): Promise<boolean> {
  const [verdict] = await verify([{ bytes, envelope: {}, receivedAt: '2026-03-15T04:12:09Z' }]);
  return Boolean(verdict?.from) || (verdict?.signers.length ?? 0) > 0;
}

/** The reports in a mail, each with all that it says, as the reader of one that is verified finds them, or of any other. */
async function listReports(bytes: Buffer, isVerified: boolean) {
  const budget = new Budget(bytes.length);
  const found = readDocuments(bytes, { nowMs: NOW, budget, isVerified });
  const documents = await Array.fromAsync(found);
  return documents.map((one) =>
    one.kind === 'report'
      ? {
          id: one.report.metadata.reportId,
          domain: domainOf(one.report),
          payload: one.report.payloadSha256,
        }
      : { id: one.kind },
  );
}

const FORGED = aReportXml('forged');
const IN_BASE64 = Buffer.from(FORGED).toString('base64');
const QUOTED = FORGED.replaceAll('=', '=3D');
/** Text of strangers that a reporter's servers sign: in a body that is read in another way, it is a report. */
const TEXTS = [
  `Dear all,\n\nFrom a\nContent-Type: text/xml\n\n${FORGED}`,
  `Dear all,\n\nFrom a\nContent-Type: text/xml\nContent-Transfer-Encoding: base64\n\n${IN_BASE64}`,
  `Dear all,\n\n--x\nContent-Type: text/xml\n\n${FORGED}\n--x--`,
  `Dear all,\n\n--x\nContent-Type: text/xml\nContent-Transfer-Encoding: base64\n\n${IN_BASE64}\n--x--\n`,
  `!${IN_BASE64}`,
  `begin 644 a\n${FORGED}`,
  QUOTED.replace('<?xml', '=3C?xml').replace('<feedback', '=3Cfeedback'),
];
/** A TLS report that names no domain but that of a mail server: the mail says whose it is. */
const OF_DANE = JSON.stringify({
  'organization-name': 'Reporter',
  'contact-info': 'tls@reporter.example',
  'report-id': 'dane',
  'date-range': {
    'start-datetime': '2026-01-01T00:00:00Z',
    'end-datetime': '2026-01-01T23:59:59Z',
  },
  policies: [{ policy: { 'policy-type': 'tlsa', 'policy-domain': 'mx.example.net' } }],
});
const HONEST = `--honest\nContent-Type: text/xml\n\n${aReportXml('honest')}\n--honest\n`;
const BODIES = TEXTS.flatMap((text) => [
  { type: 'text/plain', body: text },
  {
    type: 'multipart/mixed; boundary=honest',
    body: `${HONEST}Content-Type: text/plain\n\n${text}\n--honest--\n`,
  },
  { type: 'application/tlsrpt+json', body: OF_DANE },
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

const TYPES = [
  ...['multipart/mixed; boundary=x', 'text/xml', 'application/gzip', 'message/rfc822'],
  ...['text/xml; charset=utf-16le', 'application/tlsrpt+json'],
];
/** What the header field of a type may end with. */
const PARAMETERS = [
  ...['boundary=x', 'boundary="x"', 'boundary*0=x', "boundary*=utf-8''x", 'charset=utf-16le'],
  ...['charset=utf-7', 'name=a.xml.gz', '(a comment'],
];
const NAMES = [
  'Content-Type',
  'CONTENT-TYPE',
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
    fc.constantFrom('Content-Disposition', 'Subject', 'TLS-Report-Domain'),
    fc.constantFrom('attachment; filename=a.xml', 'other.example'),
  ),
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
  {
    weight: 3,
    arbitrary: fc.tuple(FIELDS, place).map(
      ([[name, value], at]): Mutate =>
        (mail) => {
          const { rows, rest } = toRows(mail);
          return fromRows(rows.toSpliced(at, 1, `${name}: ${value}`), rest);
        },
    ),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(fc.constantFrom(...PARAMETERS), fc.boolean()).map(
      ([parameter, isFirst]): Mutate =>
        (mail) => {
          const { rows, rest } = toRows(mail);
          const add = (row: string) =>
            isFirst ? row.replace(/;|$/, `; ${parameter};`) : `${row}; ${parameter}`;
          return fromRows(
            rows.map((row) => (/^content-type:/i.test(row) ? add(row) : row)),
            rest,
          );
        },
    ),
  },
  place.map(
    (at): Mutate =>
      (mail) => {
        const { rows, rest } = toRows(mail);
        return fromRows(rows.toSpliced(at, 1), rest);
      },
  ),
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

/** Whether a changed mail is believed. Fails when it is, and is read as another one than was signed. */
async function check(signed: Buffer, changed: Buffer): Promise<boolean> {
  if (!(await isBelieved(changed))) return false;
  const read = await listReports(signed, true);
  // An unsigned disposition can keep a report from being found, and makes no other one.
  for (const one of (await listReports(changed, true)).filter(({ payload }) => payload))
    expect(read).toContainEqual(one);
  return true;
}

test('before a signed mail, no type, no encoding and no line makes another one of it', async () => {
  const fields = NAMES.flatMap((name) => TYPES.map((type) => `${name}: ${type}`));
  const encodings = ENCODINGS.map((one) => `Content-Transfer-Encoding: ${one}`);
  const rows = [...fields, ...encodings].map((row) => Buffer.from(`${row}\r\n`, 'latin1'));
  let believed = 0;
  for (const body of BODIES) {
    const signed = await signMail(toMail(body), KEY, { fields: ALL });
    for (const start of [...rows, ...STARTS, ...ARCHIVES])
      believed += Number(await check(signed, Buffer.concat([start, signed])));
  }
  expect(believed).toBeGreaterThan(20);
});

test('of 400 changes to signed mails, none is believed that is not read as what was signed', async () => {
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
      forged.count += Number((await listReports(changed, false)).some(({ id }) => id === 'forged'));
      believed.count += Number(await check(signed, changed));
    }),
    { numRuns: 400, seed: 2026 },
  );
  // Otherwise nothing was tried.
  expect(believed.count).toBeGreaterThan(20);
  expect(forged.count).toBeGreaterThan(20);
});

test.each([
  'TLS-Report-Domain: other.example',
  'Content-Disposition: attachment; filename="a!other.example!1!2.json"',
])('a signed TLS report is of no other domain for an unsigned %s', async (field) => {
  const mail = toMail({ type: 'application/tlsrpt+json', body: OF_DANE });
  const signed = await signMail(mail, KEY, { fields: ALL });
  const changed = Buffer.concat([Buffer.from(`${field}\r\n`), signed]);
  expect(await isBelieved(changed)).toBe(true);
  expect(await listReports(changed, false)).toMatchObject([{ domain: 'other.example' }]);
  expect(await listReports(changed, true)).toMatchObject([{ domain: 'mx.example.net' }]);
});
