import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { outcomes, PLAIN, readAll } from '../support/intake.ts';
import { base64, mail, multipart, text } from '../support/mail.ts';
import { tar, uuencode } from '../support/odd-containers.ts';
import { zip } from '../support/zip.ts';

const REPORT = 'report 2026-0001';
const NAME = 'example.net!example.com!1767225600!1767311999';
const GZIP = gzipSync(PLAIN);
const ZIP = zip([{ name: `${NAME}.xml`, content: PLAIN }]);
const HELLO = text('Hello');
const IN_BASE64 = GZIP.toString('base64').replace(/.{76}/g, '$&\r\n');

const attached = (body: string, encoding?: string) => ({
  headers: [
    'Content-Type: application/gzip',
    ...(encoding === undefined ? [] : [`Content-Transfer-Encoding: ${encoding}`]),
  ],
  body,
});

async function warningsOf(input: Uint8Array | string) {
  const [document] = await readAll(input);
  return document?.kind === 'report' ? document.report.warnings.map(({ code }) => code) : undefined;
}

describe('an archive', () => {
  const blanks = Buffer.from('\r\n\r\n');
  test.each([
    ['a zip with CR LF behind it', Buffer.concat([ZIP, blanks])],
    ['a zip with zeros behind it', Buffer.concat([ZIP, Buffer.alloc(700)])],
    ['a zip with CR LF before and behind it', Buffer.concat([blanks, ZIP, blanks])],
    ['a zip with zeros before it', Buffer.concat([Buffer.alloc(9), ZIP])],
    ['a gzip with CR LF before it', Buffer.concat([blanks, GZIP])],
  ])('%s is read with a warning', async (_what, input) => {
    expect(await outcomes(input)).toEqual([REPORT]);
    expect(await outcomes(mail(multipart([HELLO, base64(input)])))).toEqual([REPORT]);
    expect(await warningsOf(input)).toEqual(['bytes_around_archive']);
  });

  const TAR = tar({ 'a/': '', 'a/readme.txt': 'Hello', 'a/report.xml': PLAIN, 'a/empty': '' });
  test.each([
    ['a tar', TAR],
    ['a tar in a gzip', gzipSync(TAR)],
    ['a tar in a gzip in a mail', mail(base64(gzipSync(TAR)))],
    ['a tar without the zeros at its end', TAR.subarray(0, -1024)],
  ])('%s is read', async (_what, input) => {
    expect(await outcomes(input)).toEqual(['ignored no_report', REPORT, 'ignored empty']);
  });

  test('a tar that ends early is damaged, and what came before is read', async () => {
    const both = tar({ 'a.xml': PLAIN, 'b.xml': PLAIN });
    expect(await outcomes(both.subarray(0, 4_000))).toEqual([REPORT, 'rejected bad_archive']);
  });
});

describe('an encoding', () => {
  test.each([
    ['base64 without a header', mail(multipart([HELLO, attached(IN_BASE64)]))],
    ['base64 that is called 8bit', mail(attached(IN_BASE64, '8bit'))],
    ['base64 that is called quoted-printable', mail(attached(IN_BASE64, 'quoted-printable'))],
    ['base64 that is called x-uuencode', mail(attached(IN_BASE64, 'x-uuencode'))],
    ['base64 of a zip as a file', ZIP.toString('base64')],
    ['base64 of XML as a file, behind blank lines', `\n\n${Buffer.from(PLAIN).toString('base64')}`],
    ['base64 in UTF-16', Buffer.from(`\ufeff${IN_BASE64}`, 'utf16le')],
    ['XML that is called base64', mail(attached(PLAIN, 'base64'))],
    ['uuencode', mail(multipart([HELLO, attached(uuencode(GZIP), 'x-uuencode')]))],
    ['uuencode that is called uuencode', mail(attached(uuencode(GZIP), 'uuencode'))],
    ['uuencode in the text of a mail', mail(text(`Here it is:\r\n\r\n${uuencode(GZIP)}\r\n`))],
    ['uuencode without blanks at line ends', uuencode(GZIP).replace(/ +$/gm, '')],
  ])('%s is read', async (_what, input) => {
    expect(await outcomes(input)).toEqual([REPORT]);
    expect(await warningsOf(input)).toEqual([]);
  });
});

describe('a mail', () => {
  const { body } = multipart([HELLO, base64(GZIP)], 'mixed', '=_outer');
  const whole = mail(multipart([HELLO, base64(GZIP)]));
  const length = Buffer.from(`${whole.length}      \n`);
  test.each([
    ['without a boundary', mail({ headers: ['Content-Type: multipart/mixed'], body })],
    [
      'with the boundary on a line that is not indented',
      mail({ headers: ['Content-Type: multipart/mixed;', 'boundary="=_outer"'], body }),
    ],
    [
      'with another boundary than its parts have',
      mail({ headers: ['Content-Type: multipart/mixed; boundary="=_other"'], body }),
    ],
    [
      'with a boundary of 300 characters, whose first line is in the body',
      mail({ headers: [`Content-Type: multipart/mixed; boundary="${'x'.repeat(300)}"`], body }),
    ],
    ['in UTF-16', Buffer.from(`\ufeff${whole.toString()}`, 'utf16le')],
    ['in UTF-16 without a mark', Buffer.from(whole.toString(), 'utf16le')],
    ['in UTF-16, big end first', Buffer.from(`\ufeff${whole.toString()}`, 'utf16le').swap16()],
    [
      'in a file of Apple',
      Buffer.concat([length, whole, Buffer.from('<?xml version="1.0"?><plist>')]),
    ],
  ])('%s is read', async (_what, input) => {
    expect(await outcomes(input)).toEqual([REPORT]);
  });

  test('that is the first piece of a larger one says so', async () => {
    const piece = {
      headers: ['Content-Type: message/partial; id="a@example.net"; number=1; total=2'],
      body: mail(base64(GZIP)).toString().slice(0, 500),
    };
    expect(await readAll(mail(piece))).toMatchObject([
      {
        kind: 'rejected',
        refusal: { reason: 'none_found', message: expect.stringContaining('message/partial') },
      },
    ]);
  });

  const inLatin1 = (type: string, org: string) => ({
    headers: [`Content-Type: ${type}`, 'Content-Disposition: attachment; filename="r.xml"'],
    body: PLAIN.replace(/^<\?xml[^>]*>/, '').replace(/<org_name>[^<]*/, `<org_name>${org}`),
  });

  test.each([
    ['that says iso-8859-1', 'text/xml; charset=iso-8859-1', 'M\u00fcller', 'M\u00fcller'],
    ['that says windows-1252', 'text/xml; charset=windows-1252', '\u0080uro', '\u20acuro'],
    ['that says what nobody knows', 'text/xml; charset=x-none', 'M\u00fcller', 'M\ufffdller'],
    [
      'that is wrong: it is UTF-8',
      'text/xml; charset=iso-8859-1',
      'M\u00c3\u00bcller',
      'M\u00fcller',
    ],
  ])('%s gives its report the charset that this has none of', async (_, type, sent, org) => {
    const [document] = await readAll(mail(inLatin1(type, sent)));
    expect(document).toMatchObject({ kind: 'report', report: { metadata: { orgName: org } } });
  });

  test('whose text has a warning of a gateway before the report is read with a warning', async () => {
    const [document] = await readAll(mail(text(`CAUTION: from outside.\r\n\r\n${PLAIN}`)));
    const warnings = [{ code: 'text_before_report' }];
    expect(document).toMatchObject({ kind: 'report', report: { warnings } });
  });

  test.each([
    ['a piece of one', PLAIN.slice(0, 400)],
    ['an element alone', '<feedback>'],
  ])('of a person who quotes %s has no report', async (_, quoted) => {
    const subject = 'What does this mean?';
    expect(await outcomes(mail(text(`Dear all,\r\n\r\n${quoted}`), subject))).toEqual([
      'rejected no_report',
    ]);
  });
});
