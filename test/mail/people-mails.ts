/** Fifty ordinary mails of people, as the great mail programs and services write them. None is a report. */
import { deflateRawSync, gzipSync } from 'node:zlib';
import { base64, type MailPart, multipart, text } from '../support/mail.ts';
import { zip } from '../support/zip.ts';

const NAMES = 'ada ben cleo dan eve'.split(' ');

/** One part, and the fields that its program adds. */
interface Written {
  readonly subject: string;
  readonly part: MailPart;
  readonly fields?: readonly string[];
}

function toMail({ subject, part, fields = [] }: Written, number: number): Buffer {
  const from = NAMES[number % NAMES.length];
  const lines = [
    ...[`From: ${from} <${from}@example.org>`, 'To: team@example.com', `Subject: ${subject}`],
    ...[`Message-ID: <${number}@example.org>`, 'Date: Wed, 11 Mar 2026 10:00:00 +0000'],
    ...['MIME-Version: 1.0', ...fields, ...part.headers, '', part.body],
  ];
  return Buffer.from(lines.join('\r\n'), 'utf8');
}

const attached = (name: string, content: Uint8Array | string, type: string) =>
  base64(content, [
    `Content-Type: ${type}; name="${name}"`,
    `Content-Disposition: attachment; filename="${name}"`,
  ]);
const inline = (content: string, type: string) =>
  base64(content, [
    `Content-Type: ${type}`,
    'Content-ID: <logo@example.org>',
    'Content-Disposition: inline',
  ]);
const quotedPrintable = (body: string, type = 'text/html'): MailPart => ({
  headers: [
    `Content-Type: ${type}; charset="utf-8"`,
    'Content-Transfer-Encoding: quoted-printable',
  ],
  body: body.replaceAll('=', '=3D').replace(/.{70}/g, '$&=\r\n'),
});
const alternative = (plain: string, html: MailPart) =>
  multipart([text(plain), html], 'alternative', 'alt');
const withFile = (file: MailPart) =>
  multipart([text('Please find it attached.'), file], 'mixed', 'outer');

const XHTML =
  '<?xml version="1.0" encoding="utf-8"?>\r\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">\r\n';
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const PDF = '%PDF-1.7\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF';
const SVG =
  '<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd"><svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h9v9z"/></svg>';
const OFFICE = (folder: string) =>
  zip([
    {
      name: '[Content_Types].xml',
      content: '<?xml version="1.0"?><Types><Default Extension="xml"/></Types>',
    },
    {
      name: `${folder}/document.xml`,
      content: '<?xml version="1.0"?><w:document><w:body/></w:document>',
    },
    { name: `${folder}/media/image1.png`, content: PNG },
  ]);
const EPUB = zip([
  { name: 'mimetype', content: 'application/epub+zip', isStored: true },
  { name: 'META-INF/container.xml', content: '<?xml version="1.0"?><container version="1.0"/>' },
  { name: 'OEBPS/one.xhtml', content: `${XHTML}<html><body><p>One</p></body></html>` },
]);
const PROFILE =
  '<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd"><plist version="1.0"><dict><key>PayloadType</key><string>Configuration</string></dict></plist>';
const CALENDAR = (method: string) =>
  `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nMETHOD:${method}\r\nBEGIN:VEVENT\r\nUID:1@example.org\r\nDTSTART:20260312T090000Z\r\nSUMMARY:Plan\r\nEND:VEVENT\r\nEND:VCALENDAR`;
const INVITATION = (method: string): MailPart => ({
  headers: [`Content-Type: text/calendar; charset=utf-8; method=${method}`],
  body: CALENDAR(method),
});
/** The first bytes of a CMS message (RFC 5652): enveloped, and signed. */
const cms = (last: number) =>
  Buffer.from([
    0x30,
    0x80,
    0x06,
    0x09,
    0x2a,
    0x86,
    0x48,
    0x86,
    0xf7,
    0x0d,
    0x01,
    0x07,
    last,
    0xa0,
    0x80,
    1,
    2,
    3,
    4,
  ]);
const ARMOUR = (kind: string) =>
  `-----BEGIN PGP ${kind}-----\r\n\r\nhQEMA1bWZ0pTestAQf/RmVlZGJhY2sgaXMgbm90IGluIGl0LCBzbyBpdCBpcyBs\r\n=AbCd\r\n-----END PGP ${kind}-----\r\n`;
const forwarded = (subject: string, part: MailPart): MailPart => ({
  headers: [
    'Content-Type: message/rfc822',
    'Content-Disposition: attachment; filename="forwarded.eml"',
  ],
  body: toMail({ subject, part }, 99).toString('utf8'),
});
const signed = (part: MailPart, type: string, signature: MailPart): MailPart => {
  const { headers, body } = multipart([part, signature], 'signed', 'sig');
  return { headers: [`${headers[0]}; protocol="${type}"; micalg=sha-256`], body };
};

const GMAIL =
  '<div dir="ltr">Shall we have lunch?<br clear="all"><div class="gmail_signature">Ada</div></div>';
const GMAIL_QUOTE = `<div dir=ltr>Yes</div><br><div class="gmail_quote"><blockquote class="gmail_quote" style="margin:0">${GMAIL}</blockquote></div>`;
const OUTLOOK =
  '<html xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office"><head><!--[if gte mso 9]><xml><o:shapedefaults v:ext="edit" spidmax="1026"/></xml><![endif]--></head><body lang=EN-US><p class=MsoNormal>Hello<o:p></o:p></p></body></html>';
const APPLE =
  '<html><head><meta http-equiv="content-type" content="text/html; charset=utf-8"></head><body style="overflow-wrap: break-word;">See you<br><div><br></div></body></html>';
const THUNDERBIRD =
  '<!DOCTYPE html>\r\n<html>\r\n  <head>\r\n\r\n    <meta http-equiv="content-type" content="text/html; charset=UTF-8">\r\n  </head>\r\n  <body>\r\n    <p>Thanks & bye</p>\r\n  </body>\r\n</html>';
const NEWSLETTER = `${XHTML}<html xmlns="http://www.w3.org/1999/xhtml"><head><title>News</title></head><body><table width=600><tr><td>&nbsp;We value your feedback<br></td></tr></table></body></html>`;
const RECEIPT =
  '<table border=0><tr><td>Total<td>12.00&euro;</table><p>Your order <a href="https://shop.example/?a=1&b=2">1234</a>';

const page = (body: string) => text(body, 'text/html');
const mail = (subject: string, part: MailPart, fields?: readonly string[]): Written => ({
  subject,
  part,
  ...(fields && { fields }),
});
const file = (
  subject: string,
  name: string,
  content: Uint8Array | string,
  type = 'application/octet-stream',
) => mail(subject, withFile(attached(name, content, type)));

const MAILS: readonly Written[] = [
  // Mail programs.
  mail('Lunch', alternative('Shall we have lunch?', page(GMAIL)), ['X-Gm-Message-State: AOJu0Y']),
  mail('Re: Lunch', alternative('Yes', quotedPrintable(GMAIL_QUOTE))),
  mail('Lunch again', page(GMAIL.replaceAll('"', ''))),
  mail('Offer', alternative('Hello', quotedPrintable(OUTLOOK)), [
    'X-Mailer: Microsoft Outlook 16.0',
    'Thread-Index: Adq1',
  ]),
  mail('Offer, second', base64(OUTLOOK, ['Content-Type: text/html; charset="utf-8"'])),
  mail(
    'Minutes',
    alternative(
      'Hello',
      multipart([page(OUTLOOK), inline(PNG.toString('latin1'), 'image/png')], 'related', 'rel'),
    ),
  ),
  mail(
    'Minutes in a blob',
    withFile(
      attached(
        'winmail.dat',
        Buffer.from([0x78, 0x9f, 0x3e, 0x22, 1, 0, 6, 0x90]),
        'application/ms-tnef',
      ),
    ),
  ),
  mail('Holiday', alternative('See you', quotedPrintable(APPLE)), [
    'X-Mailer: Apple Mail (2.3774)',
  ]),
  mail(
    'Holiday pictures',
    multipart(
      [text('Here.'), attached('IMG_0001.HEIC', PNG, 'image/heic'), text('Sent from my phone')],
      'mixed',
      'Apple-Mail=_1',
    ),
  ),
  mail('Contract', page(THUNDERBIRD), ['User-Agent: Mozilla Thunderbird']),
  mail('Plain', text('See you at nine.\r\n\r\n-- \r\nAda'), ['User-Agent: Mutt/2.2.9']),
  mail('Old', { headers: [], body: 'No MIME at all, as in 1990.' }),
  // Texts that begin like something else.
  mail('Love', text('<3 see you at lunch')),
  mail('Arrow', text('<- this is where we are\r\n-> this is where we go')),
  mail('Tag', text('<div> does not close, does it? I get a broken page.')),
  mail(
    'Configuration',
    text('<?xml version="1.0"?>\r\n<beans><bean id="a"></beans>\r\nWhy does this not start?'),
  ),
  mail('Formula', text('x^2 + y^2 = z^2')),
  mail('Zipped', text('PK is what zip files begin with, gzip with 1F 8B.')),
  mail('Quote', text('From the beginning:\r\n\r\nFrom: somebody\r\nSubject: nothing\r\n\r\nbye')),
  mail('=?utf-8?B?R3LDvMOfZQ==?=', quotedPrintable('Gr=C3=BC=C3=9Fe', 'text/plain')),
  // Newsletters.
  mail('News', alternative('We value your feedback', quotedPrintable(NEWSLETTER)), [
    'List-Unsubscribe: <https://news.example/u>',
    'Precedence: bulk',
  ]),
  mail('News in XHTML', page(NEWSLETTER)),
  mail('Your feedback matters', page('<feedback-form action=x><p>How was it?<br>')),
  mail(
    'Digest',
    multipart(
      [
        text('Today'),
        multipart(
          [forwarded('One', text('First')), forwarded('Two', text('Second'))],
          'digest',
          'dig',
        ),
      ],
      'mixed',
      'outer',
    ),
  ),
  mail(
    'Status of the domain',
    page('<p>The report on your domain is ready.<p>DMARC is <b>fine</b> & well'),
  ),
  // Invitations.
  mail(
    'Invitation: Plan',
    multipart(
      [
        alternative('Plan', page(GMAIL)),
        INVITATION('REQUEST'),
        attached('invite.ics', CALENDAR('REQUEST'), 'application/ics'),
      ],
      'mixed',
      'outer',
    ),
  ),
  mail('Accepted: Plan', alternative('Ada has accepted', INVITATION('REPLY'))),
  mail('Cancelled: Plan', INVITATION('CANCEL')),
  file('Card', 'ada.vcf', 'BEGIN:VCARD\r\nVERSION:4.0\r\nFN:Ada\r\nEND:VCARD', 'text/vcard'),
  // Receipts.
  mail('Your receipt', page(RECEIPT)),
  mail(
    'Your invoice',
    multipart([page(RECEIPT), attached('invoice.pdf', PDF, 'application/pdf')], 'mixed', 'outer'),
  ),
  file(
    'Invoice for a program',
    'factur-x.xml',
    '<?xml version="1.0"?><rsm:CrossIndustryInvoice xmlns:rsm="urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100"/>',
    'text/xml',
  ),
  file(
    'Statement',
    'camt.053.xml.gz',
    gzipSync(
      '<?xml version="1.0"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"/>',
    ),
    'application/gzip',
  ),
  // Signed and encrypted.
  mail(
    'Signed',
    signed(
      text('Hello'),
      'application/pkcs7-signature',
      attached('smime.p7s', cms(2), 'application/pkcs7-signature'),
    ),
  ),
  mail(
    'Signed as one',
    attached('smime.p7m', cms(2), 'application/pkcs7-mime; smime-type=signed-data'),
  ),
  mail(
    'Encrypted',
    attached('smime.p7m', cms(3), 'application/pkcs7-mime; smime-type=enveloped-data'),
  ),
  mail(
    'Signed by PGP',
    signed(text('Hello'), 'application/pgp-signature', {
      headers: ['Content-Type: application/pgp-signature; name="signature.asc"'],
      body: ARMOUR('SIGNATURE'),
    }),
  ),
  mail(
    'Encrypted by PGP',
    multipart(
      [
        { headers: ['Content-Type: application/pgp-encrypted'], body: 'Version: 1' },
        {
          headers: ['Content-Type: application/octet-stream; name="encrypted.asc"'],
          body: ARMOUR('MESSAGE'),
        },
      ],
      'encrypted',
      'pgp',
    ),
  ),
  mail('Encrypted in the text', text(ARMOUR('MESSAGE'))),
  // Attachments.
  file(
    'Letter',
    'letter.docx',
    OFFICE('word'),
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  ),
  file('Table', 'table.xlsx', OFFICE('xl')),
  file('Damaged letter', 'letter.docx', OFFICE('word').subarray(0, 90)),
  file('Book', 'book.epub', EPUB, 'application/epub+zip'),
  file('Wi-Fi', 'wifi.mobileconfig', PROFILE, 'application/x-apple-aspen-config'),
  file('Logo', 'logo.svg', SVG, 'image/svg+xml'),
  file('Page', 'page.html', '<p>One<p>Two & three', 'text/html'),
  file(
    'Secret pictures',
    'pictures.zip',
    zip([{ name: 'beach.jpg', content: deflateRawSync(PNG), isEncrypted: true }]),
    'application/zip',
  ),
  // Replies and forwarded mails that name a report.
  mail(
    'Re: Report Domain: example.com Submitter: example.net Report-ID: 1',
    text('Thanks. What does it mean?\r\n\r\n> This is a DMARC aggregate report for example.com'),
  ),
  mail(
    'Fwd: question',
    multipart(
      [text('See below.'), forwarded('Re: Report domain: example.com', text('Who sends this?'))],
      'mixed',
      'outer',
    ),
  ),
  mail(
    'DMARC',
    alternative('The report domain: is it ours?', page('<p>The <b>report domain</b>: is it ours?')),
  ),
];

export const PEOPLES_MAILS: readonly Buffer[] = MAILS.map(toMail);
