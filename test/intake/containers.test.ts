import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it, test } from 'vitest';
import { fixture, outcomes, PLAIN, plainWith, read, readAll } from '../support/intake.ts';
import { base64, letter, mail, multipart, text } from '../support/mail.ts';
import { zip } from '../support/zip.ts';

const REPORT = 'report 2026-0001';
const SECOND = plainWith('2026-0001', '2026-0002');
const GZIP = gzipSync(PLAIN);
const ZIP = zip([{ name: 'report.xml', content: PLAIN }]);
/** What Yahoo and AOL sent in May 2023 instead of a report. */
const UNUSED = gzipSync('unused');

async function warningsOf(input: Uint8Array | string): Promise<string[]> {
  const [document] = await readAll(input);
  if (document?.kind !== 'report') throw new Error('There is no report');
  return document.report.warnings.map(({ code }) => code);
}

describe('gzip and zlib', () => {
  test.each([
    ['plain XML', PLAIN],
    ['gzip', GZIP],
    ['gzip with a file name, a comment and extra fields', withGzipFields(GZIP)],
    [
      'gzip with CR LF after the trailer, as Mimecast sends',
      Buffer.concat([GZIP, Buffer.from('\r\n')]),
    ],
    ['gzip with zero padding', Buffer.concat([GZIP, Buffer.alloc(512)])],
    ['zlib', deflateSync(PLAIN)],
    ['gzip in gzip', gzipSync(GZIP)],
    ['gzip in gzip in gzip', gzipSync(gzipSync(GZIP))],
  ])('%s is read without a warning', async (_, input) => {
    expect(await outcomes(input)).toEqual([REPORT]);
    expect(await warningsOf(input)).toEqual([]);
  });

  test.each([
    ['without its trailer', GZIP.subarray(0, -8), ['gzip_truncated']],
    ['with a wrong checksum', withByte(GZIP, -8), ['gzip_bad_checksum']],
    [
      'of several members',
      Buffer.concat([gzipSync(PLAIN.slice(0, 500)), gzipSync(PLAIN.slice(500))]),
      ['gzip_several_members'],
    ],
  ])('gzip %s is read with a warning', async (_, input, warnings) => {
    expect(await outcomes(input)).toEqual([REPORT]);
    expect(await warningsOf(input)).toEqual(warnings);
  });

  test.each([
    ['truncated in the middle', GZIP.subarray(0, 300), 'rejected bad_xml'],
    ['damaged', withByte(GZIP, 40), 'rejected bad_archive'],
    ['that ends in its header', GZIP.subarray(0, 8), 'rejected bad_archive'],
    ['five times over', gzipSync(gzipSync(gzipSync(gzipSync(GZIP)))), 'rejected too_deep'],
    ['of nothing', gzipSync(''), 'rejected empty'],
    ['of the word "unused"', UNUSED, 'rejected no_report'],
  ])('gzip %s is rejected', async (_, input, outcome) => {
    expect(await outcomes(input)).toEqual([outcome]);
  });

  it('a gzip that ends early is named as the cause of the XML that ends early', async () => {
    const [document] = await readAll(GZIP.subarray(0, 300));
    expect(document).toMatchObject({
      refusal: { message: expect.stringMatching(/unclosed tag.*\. The gzip data ends early\.$/) },
    });
  });

  it('the hash is that of the unpacked XML, however it was packed', async () => {
    const { report } = await read(PLAIN);
    const [packed] = await readAll(gzipSync(GZIP));
    expect(packed).toMatchObject({ report: { payloadSha256: report.payloadSha256 } });
  });
});

describe('zip', () => {
  test.each([
    ['one member', ZIP],
    ['a stored member', zip([{ name: 'r.xml', content: PLAIN, isStored: true }])],
    [
      'folders',
      zip([
        { name: 'a/', content: '', isStored: true },
        { name: 'a/b/r.xml', content: PLAIN },
      ]),
    ],
    ['an absolute path', zip([{ name: '/etc/passwd', content: PLAIN }])],
    ['a path with “..”', zip([{ name: '../../r.xml', content: PLAIN }])],
    ['backslashes', zip([{ name: 'C:\\reports\\r.xml', content: PLAIN }])],
    ['a member without a name', zip([{ name: '', content: PLAIN }])],
    [
      'files that macOS adds',
      zip([
        { name: '__MACOSX/._r.xml', content: 'Mac OS X' },
        { name: 'folder/.DS_Store', content: 'Bud1' },
        { name: 'r.xml', content: PLAIN },
      ]),
    ],
    ['a gzip inside', zip([{ name: 'r.xml.gz', content: GZIP }])],
    ['a zip inside', zip([{ name: 'r.zip', content: ZIP }])],
  ])('with %s gives its report', async (_, input) => {
    expect(await outcomes(input)).toEqual([REPORT]);
  });

  it('gives every report, with member names from the outside in', async () => {
    const inner = zip([{ name: 'b.xml', content: SECOND }]);
    const documents = await readAll(
      zip([
        { name: 'a.xml', content: PLAIN },
        { name: 'i.zip', content: inner },
      ]),
    );
    expect(documents.map(({ member }) => member)).toEqual([['a.xml'], ['i.zip', 'b.xml']]);
  });

  it('names a member without a name by its position, and shows no control characters', async () => {
    const documents = await readAll(
      zip([
        { name: '', content: PLAIN },
        { name: 'a\u001bb', content: PLAIN },
      ]),
    );
    expect(documents.map(({ member }) => member)).toEqual([['member 1'], ['ab']]);
  });

  it('does not stop at a broken report, and ignores other files', async () => {
    const input = zip([
      { name: 'README', content: 'About these reports.' },
      { name: 'broken.xml', content: '<feedback><record>' },
      { name: 'good.xml', content: PLAIN },
      { name: 'empty', content: '' },
    ]);
    expect(await outcomes(input)).toEqual([
      'ignored no_report',
      'rejected bad_xml',
      REPORT,
      'ignored empty',
    ]);
  });

  test.each([
    [
      'an encrypted member',
      zip([{ name: 'r.xml', content: PLAIN, isEncrypted: true, isStored: true }]),
      'bad_archive',
    ],
    ['an unknown compression', zip([{ name: 'r.xml', content: PLAIN, method: 14 }]), 'bad_archive'],
    ['a wrong checksum', zip([{ name: 'r.xml', content: PLAIN, crc: 1 }]), 'bad_archive'],
    ['no directory at its end', ZIP.subarray(0, 200), 'bad_archive'],
    ['a damaged directory', withByte(ZIP, -78), 'bad_archive'],
    ['no members', zip([]), 'no_report'],
    ['an empty member', zip([{ name: 'r.xml', content: '' }]), 'empty'],
    [
      'no report',
      zip([
        { name: 'a.txt', content: 'a' },
        { name: 'b.txt', content: 'b' },
      ]),
      'no_report',
    ],
    [
      'another XML',
      zip([
        { name: 'a.txt', content: 'a' },
        { name: 'b.xml', content: '<b/>' },
      ]),
      'not_aggregate',
    ],
  ])('with %s is rejected once', async (_, input, reason) => {
    expect(await outcomes(input)).toEqual([`rejected ${reason}`]);
  });

  it('reads what is beside an encrypted member', async () => {
    const secret = { name: 'a.xml', content: PLAIN, isEncrypted: true };
    expect(await outcomes(zip([secret, { name: 'b.xml', content: PLAIN }]))).toEqual([
      'rejected bad_archive',
      REPORT,
    ]);
  });
});

describe('mail', () => {
  const HELLO = text('Hello, this is a DMARC report.');
  const LOGO = base64('\x89PNG', [
    'Content-Type: image/png; name="logo.png"',
    'Content-ID: <logo>',
  ]);

  test.each([
    [
      'whose whole body is a zip, as Google sends',
      mail(base64(ZIP, ['Content-Type: application/zip'])),
    ],
    ['whose whole body is a gzip', mail(base64(GZIP, ['Content-Type: application/gzip']))],
    ['whose body is declared as text and is a gzip', mail(base64(GZIP, []))],
    ['with text, a logo and a gzip', mail(multipart([HELLO, LOGO, base64(GZIP)]))],
    ['with the report first', mail(multipart([base64(GZIP), HELLO]))],
    ['with an HTML page', mail(multipart([text('<html><p>Hi<br>', 'text/html'), base64(GZIP)]))],
    [
      'with HTML that is not a page',
      mail(multipart([text('<p>Hi<br>', 'text/html'), base64(GZIP)])),
    ],
    [
      'with a text that begins with an address',
      mail(multipart([text('<a@example.com> wrote'), base64(GZIP)])),
    ],
    [
      'with a gzip declared as zip, as GMX sent',
      mail(base64(GZIP, ['Content-Type: application/zip; name=r.zip'])),
    ],
    [
      'with unencoded XML',
      mail(multipart([HELLO, { headers: ['Content-Type: text/xml'], body: PLAIN }])),
    ],
    ['with XML as inline text', mail(multipart([HELLO, text(PLAIN)]))],
    ['with XML as its whole body', mail({ headers: [], body: PLAIN })],
    ['with XML in base64', mail(base64(PLAIN, ['Content-Type: application/xml']))],
    [
      'with XML in quoted-printable',
      mail({
        headers: ['Content-Type: text/xml', 'Content-Transfer-Encoding: quoted-printable'],
        body: PLAIN.replaceAll('=', '=3D').replace('<feedback>', '<feed=\r\nback>'),
      }),
    ],
    [
      'with nested multiparts',
      mail(
        multipart([
          multipart([HELLO, multipart([base64(ZIP)], 'related', 'b3')], 'alternative', 'b2'),
        ]),
      ),
    ],
    [
      'that forwards a mail',
      mail(
        multipart([
          HELLO,
          {
            headers: ['Content-Type: message/rfc822'],
            body: mail(base64(GZIP)).toString('latin1'),
          },
        ]),
      ),
    ],
    [
      'from a mailbox, with its "From " line',
      Buffer.concat([
        Buffer.from('From dmarc@example.net Thu Jan  1 00:00:00 2026\r\n'),
        mail(base64(GZIP)),
      ]),
    ],
    [
      'with a strange subject',
      Buffer.concat([
        Buffer.from('Subject: =?utf-8?B?UmVwb3J0?=\r\n =?utf-8?Q?_{x};?=\r\n'),
        mail(base64(GZIP)),
      ]),
    ],
  ])('%s gives its report and nothing else', async (_, input) => {
    expect(await outcomes(input)).toEqual([REPORT]);
  });

  test.each([
    [
      'with LF as its line ends',
      mail(multipart([HELLO, base64(GZIP)]))
        .toString('latin1')
        .replaceAll('\r', ''),
    ],
    [
      'without its closing boundary',
      mail(multipart([HELLO, base64(GZIP)]))
        .toString('latin1')
        .replace('--b1--', ''),
    ],
    [
      'with one boundary that begins like another',
      mail(multipart([multipart([base64(GZIP)], 'mixed', 'b12'), HELLO])),
    ],
    [
      'with blanks after a boundary',
      mail(multipart([HELLO, base64(GZIP)]))
        .toString('latin1')
        .replaceAll('--b1\r', '--b1 \t\r'),
    ],
    [
      'with a folded Content-Type',
      mail({
        ...multipart([HELLO, base64(GZIP)]),
        headers: ['CONTENT-TYPE: Multipart/Mixed;\r\n\tcharset=utf-8;\r\n boundary = "b1" ; x=y'],
      }),
    ],
    [
      'with an unencoded gzip',
      Buffer.concat([mail({ headers: ['Content-Transfer-Encoding: binary'], body: '' }), GZIP]),
    ],
    [
      'with padding in every line of its base64',
      mail({
        headers: ['Content-Transfer-Encoding: BASE64'],
        body: inPieces(GZIP, 28)
          .map((piece) => piece.toString('base64'))
          .join('\r\n'),
      }),
    ],
  ])('%s is still split into its parts', async (_, input) => {
    expect(await outcomes(input)).toEqual([REPORT]);
  });

  it('gives the exact bytes of a part that is not encoded', async () => {
    const input = mail(multipart([text(PLAIN.replaceAll('\n', '\r\n'))]));
    const { report } = await read(PLAIN.replaceAll('\n', '\r\n'));
    expect(await readAll(input)).toMatchObject([
      { report: { payloadSha256: report.payloadSha256 } },
    ]);
  });

  it('with a misspelt ContentType: is read with a warning', async () => {
    const parts = multipart([HELLO, base64(GZIP)]);
    const headers = parts.headers.map((header) => header.replace('Content-Type', 'ContentType'));
    const input = mail({ ...parts, headers });
    expect(await outcomes(input)).toEqual([REPORT]);
    expect(await warningsOf(input)).toEqual(['misspelt_content_type']);
  });

  it('decodes an inline text part by the XML declaration, not by the charset of the mail', async () => {
    const part = base64(fixture('aol-windows-1252.xml'), [
      'Content-Type: text/plain; charset=utf-8',
    ]);
    const [document] = await readAll(mail(part));
    expect(document).toMatchObject({ report: { metadata: { orgName: 'Exämple “Mail”' } } });
  });

  it('gives each of several reports, and each error separately', async () => {
    const input = mail(
      multipart([
        HELLO,
        base64(GZIP),
        base64('<feedback>'),
        base64(zip([{ name: 'b', content: SECOND }])),
      ]),
    );
    expect(await outcomes(input)).toEqual([REPORT, 'rejected bad_xml', 'report 2026-0002']);
  });

  it('ignores an attachment beside a report that is not a report', async () => {
    const input = mail(multipart([base64('%PDF-1.7'), base64(GZIP)]));
    expect(await outcomes(input)).toEqual(['ignored no_report', REPORT]);
  });

  it('reads every message of a mailbox', async () => {
    const box = [
      mail(base64(GZIP)),
      letter(text('Hi.\r\n\r\nFrom now on we write\r\nmore.')),
      mail(base64(SECOND)),
    ]
      .map(
        (message) =>
          `From a@example.net Thu Jan  1 00:00:00 2026\r\n${message.toString('latin1')}\r\n\r\n`,
      )
      .join('');
    expect(await outcomes(box)).toEqual([REPORT, 'ignored no_report', 'report 2026-0002']);
    expect((await readAll(box)).at(-1)?.member).toEqual(['message 3', 'report.bin']);
  });

  test.each([
    ['a mail without a report', letter(HELLO), 'no_report', /no report/],
    [
      'spam with a page',
      letter(text('<html><body>Buy!</body></html>', 'text/html')),
      'no_report',
      /no report/,
    ],
    ['a mail with the word "unused"', letter(base64(UNUSED)), 'no_report', /neither XML/],
    ['a mail with an empty attachment', letter(multipart([HELLO, base64('')])), 'empty', /nothing/],
    [
      'a failure report',
      mail(
        multipart(
          [
            HELLO,
            {
              headers: ['Content-Type: message/feedback-report'],
              body: 'Feedback-Type: auth-failure\r\nVersion: 1',
            },
            { headers: ['Content-Type: message/rfc822'], body: letter(HELLO).toString('latin1') },
          ],
          'report',
        ),
      ),
      'not_aggregate',
      /^failure_report/,
    ],
    ['an HTML page', '<!DOCTYPE html><html></html>', 'not_aggregate', /<html>/],
    ['a text file', 'Hello: world', 'no_report', /neither XML/],
    ['an empty file', '', 'empty', /nothing/],
    ['a file of blanks', ' \r\n\t', 'empty', /nothing/],
  ])('%s is rejected, and the reason says what it is', async (_, input, reason, message) => {
    const [document, ...others] = await readAll(input);
    expect(document).toMatchObject({ kind: 'rejected', member: [], refusal: { reason } });
    expect(document).toMatchObject({ refusal: { message: expect.stringMatching(message) } });
    expect(others).toEqual([]);
  });
});

function withByte(bytes: Buffer, at: number): Buffer {
  const changed = Buffer.from(bytes);
  const index = at < 0 ? bytes.length + at : at;
  changed.writeUInt8(changed.readUInt8(index) ^ 0xff, index);
  return changed;
}

/** RFC 1952: FEXTRA, FNAME, FCOMMENT and FHCRC, after the ten fixed bytes. */
function withGzipFields(gzip: Buffer): Buffer {
  const header = Buffer.from(gzip.subarray(0, 10));
  header.writeUInt8(4 + 8 + 16 + 2, 3);
  const fields = Buffer.from('\x03\x00abcname.xml\x00comment\x00\x12\x34', 'latin1');
  return Buffer.concat([header, fields, gzip.subarray(10)]);
}

function inPieces(bytes: Buffer, size: number): Buffer[] {
  const starts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => index * size);
  return starts.map((start) => bytes.subarray(start, start + size));
}
