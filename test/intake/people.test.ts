import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { outcomes, PLAIN, readAll } from '../support/intake.ts';
import { base64, letter, mail, multipart, text } from '../support/mail.ts';
import { tar } from '../support/odd-containers.ts';
import { zip } from '../support/zip.ts';

const REPORT = 'report 2026-0001';
const BROKEN = PLAIN.slice(0, -20);
const NAME = 'example.net!example.com!1767225600!1767311999.xml';

const named = (name: string, content: Uint8Array | string) =>
  base64(content, [
    'Content-Type: application/octet-stream',
    `Content-Disposition: attachment; filename="${name}"`,
  ]);

const XHTML =
  '<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x.dtd">\n<html><body>Hi</body></html>';
const SVG =
  '<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "svg11.dtd"><svg/>';
const PLIST =
  '<?xml version="1.0"?><!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "p.dtd"><plist/>';
const DOCX = zip([
  { name: '[Content_Types].xml', content: '<Types/>' },
  { name: 'word/embeddings/table.xlsx', content: zip([{ name: 'a.xml', content: '<a/>' }]) },
]);

/** What people send, as the part of a mail. */
const PARTS = {
  'HTML with an attribute without quotes': text('<div dir=ltr>Lunch?</div>', 'text/html'),
  'a newsletter that asks for feedback': text(
    '<table width=1><p>Your feedback<br></table>',
    'text/html',
  ),
  'a form for feedback': text('<feedback-form action=x><p>How was it?<br>', 'text/html'),
  'a newsletter in XHTML': text(XHTML, 'text/html'),
  'a text that begins with <3': text('<3 see you at lunch'),
  'a text that begins like zlib': text('x^2 + y^2 = z^2'),
  'a logo': named('logo.svg', SVG),
  'a page': named('page.html', '<p>One<p>Two & three'),
  'settings of a device': named('wifi.mobileconfig', PLIST),
  'a book': named('book.epub', zip([{ name: 'toc.ncx', content: XHTML.replace(/html/g, 'ncx') }])),
  'a letter in a zip in a forwarded mail': {
    headers: ['Content-Type: message/rfc822'],
    body: letter(
      multipart([named('all.zip', zip([{ name: 'a.docx', content: DOCX }]))], 'mixed', 'b2'),
    ).toString('latin1'),
  },
  'an encrypted zip of pictures': named(
    'a.zip',
    zip([{ name: 'beach.jpg', content: 'x', isEncrypted: true }]),
  ),
  'a damaged letter': named('letter.docx', DOCX.subarray(0, 60)),
};

describe.each(Object.entries(PARTS))('a mail with %s', (_what, part) => {
  test('is no broken report', async () => {
    const [document, ...others] = await readAll(letter(multipart([text('Hi'), part])));
    expect(document).toMatchObject({ kind: 'rejected', member: [] });
    expect(['no_report', 'not_aggregate']).toContain(
      document?.kind === 'rejected' && document.refusal.reason,
    );
    expect(others).toEqual([]);
  });

  test('has its report beside it', async () => {
    const found = await outcomes(mail(multipart([part, base64(gzipSync(PLAIN))])));
    expect(found.filter((outcome) => !outcome.startsWith('ignored'))).toEqual([REPORT]);
  });
});

/** Both have more than is read of one text or archive. */
const [LONG, HUGE] = ['x'.repeat(1_100_000), Buffer.alloc(70 * 1024 * 1024, 'log ')];
const MANY = Object.fromEntries(Array.from({ length: 12_000 }, (_, i) => [`src/${i}.js`, '']));
const SMALL_TAR = gzipSync(tar(MANY), { level: 9 });
const LARGE_TAR = gzipSync(tar({ 'logs/access.log': HUGE.toString() }));

describe('what is too large in a mail of a person', () => {
  test.each([
    ['a tar.gz with 70 MiB of logs', named('logs.tar.gz', LARGE_TAR)],
    ['a tar.gz with 12,000 files', named('src.tar.gz', SMALL_TAR)],
    ['a page that begins with a long picture', named('a.html', `<img src="data:${LONG}"/>`)],
    ['a text that begins so', text(`<img src="data:${LONG}"/>`, 'text/html')],
    ['a picture behind a long comment', named('logo.svg', `<!--${LONG}--><svg/>`)],
  ])('%s is no rejected report: the mail stays where it is', async (_what, part) => {
    expect(await outcomes(letter(multipart([text('Hi'), part])))).toEqual(['rejected no_report']);
  });

  test.each([
    ['by the name of a file', letter(named(NAME, `<!--${LONG}-->`))],
    ['by the name of its archive', letter(named(`${NAME}.gz`, LARGE_TAR))],
    ['by its root', letter(base64(`<feedback a="${LONG}"/>`))],
    ['by the subject of its mail', mail(named('a.tar.gz', SMALL_TAR))],
    ['because it came as a file', SMALL_TAR],
  ])('a report is told %s', async (_what, input) => {
    expect(await outcomes(input)).toEqual(['rejected too_large']);
  });

  test('what was not read behind a report is told', async () => {
    const parts = [base64(gzipSync(PLAIN)), named('src.tar.gz', SMALL_TAR), base64(PLAIN)];
    const found = await outcomes(letter(multipart(parts)));
    expect([found[0], found.at(-1)]).toEqual([REPORT, 'rejected too_large']);
  });
});

describe('a broken report', () => {
  test.each([
    ['in a mail of a person', letter(base64(BROKEN)), 'bad_xml'],
    ['with a prefix', letter(base64('<d:feedback xmlns:d="x"><d:record>')), 'bad_xml'],
    ['without its root', letter(base64('<<report_metadata><org_name>')), 'bad_xml'],
    ['that is escaped', letter(text('&lt;feedback&gt;&lt;record&gt;')), 'bad_xml'],
    ['behind a long comment', letter(base64(`<!--${'x'.repeat(9_000)}--><feedback>`)), 'bad_xml'],
    [
      'with a DOCTYPE',
      letter(base64(PLAIN.replace('<feedback', '<!DOCTYPE x><feedback'))),
      'doctype_forbidden',
    ],
    ['by its name', letter(named(NAME, '<garbage')), 'bad_xml'],
    [
      'by the name of its archive',
      letter(named(`${NAME}.zip`, zip([{ name: 'a', content: '<garbage' }]))),
      'bad_xml',
    ],
    ['by the subject of its mail', mail(multipart([text('Hi'), base64('<garbage')])), 'bad_xml'],
    [
      'in an encrypted zip',
      letter(named('a.zip', zip([{ name: NAME, content: 'x', isEncrypted: true }]))),
      'bad_archive',
    ],
  ])('%s is rejected', async (_what, input, reason) => {
    expect(await outcomes(input)).toEqual([`rejected ${reason}`]);
  });
});

describe('what looks like a report and has none is told', () => {
  const subject = (text: string) => mail(base64('%PDF-1.7'), text);
  test.each([
    ['by its subject', mail(multipart([text('Hi'), base64('unused')]))],
    ['by its subject, in other words', subject('Dmarc Aggregate Report Domain: {example.com}')],
    ['by its encoded subject', subject('=?utf-8?B?UmVwb3J0IERvbWFpbjogZXhhbXBsZS5jb20=?=')],
    ['by its name', letter(named(`${NAME}.gz`, 'unused'))],
    ['without any part', mail(text('The report is too large.'))],
  ])('%s', async (_what, input) => {
    expect(await outcomes(input)).toEqual(['rejected none_found']);
  });

  test.each([
    ['an answer to one', mail(text('Thanks.'), 'Re: Report Domain: example.com')],
    ['a mail of a person', letter(text('The report domain is ours.'))],
    ['a report about TLS', mail(base64(gzipSync('{"organization-name":"x","policies":[]}')))],
  ])('but not %s', async (_what, input) => {
    expect(await outcomes(input)).not.toContain('rejected none_found');
  });
});
