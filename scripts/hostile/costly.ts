/**
 * Kinds of inputs that cost more than was counted, in any size and order: what is caught, searched or thrown away costs as much as
 * what is read.
 */
import { gzipSync } from 'node:zlib';
import type { Hostile } from './hostile.ts';
import { aRecord, aReportWith } from './values.ts';
import { deflated, stored, type ZipEntry, zipOf } from './zip-bytes.ts';

const FROM = 'From: dmarc@reporter.example';
const TYPE = 'MIME-Version: 1.0\r\nContent-Type: ';

const lines = (...rows: readonly string[]): Buffer => Buffer.from(rows.join('\r\n'), 'latin1');

const times = (count: number, render: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => render(i)).join('');

const signature = (tags: string): string =>
  `DKIM-Signature: v=1; a=rsa-sha256; s=s1; h=from; bh=AA==; b=AA==; ${tags}`;

/** A zip whose directory names one member again and again, each time with another checksum. */
function oneMember(names: number, bytes: number): Buffer {
  const { data, ...member } = deflated('a.xml', Buffer.alloc(bytes, 'a'));
  const again = (crc: number): ZipEntry => ({ ...member, crc });
  const others = Array.from({ length: names }, (_, i) => again(i));
  return zipOf([{ ...member, ...(data && { data }) }, ...others]);
}

/** A mail with this zip or gzip attached. */
const attached = (content: Buffer): Buffer =>
  lines(
    FROM,
    `${TYPE}application/octet-stream`,
    'Content-Transfer-Encoding: base64',
    '',
    content.toString('base64').replaceAll(/.{76}/g, '$&\r\n'),
  );

const body = (type: string, text: string, encoding = '7bit'): Buffer =>
  lines(FROM, `${TYPE}${type}`, `Content-Transfer-Encoding: ${encoding}`, '', text);

/** A TLS report (RFC 8460) with these policies, as JSON. */
const aTlsReportWith = (policies: string): string =>
  `{"organization-name":"R","date-range":{"start-datetime":"2026-01-01T00:00:00Z","end-datetime":"2026-01-01T23:59:59Z"},"contact-info":"a@reporter.example","report-id":"1","policies":[${policies}]}`;

/** Each kind, with a size between 0 and 1. */
export const COSTLY: Readonly<Record<string, (size: number) => Buffer>> = {
  'signatures of a part of the body': (size) =>
    lines(
      ...Array.from({ length: 6 }, (_, i) =>
        signature(`c=relaxed/relaxed; d=reporter.example; l=${i + 1}`),
      ),
      FROM,
      '',
      'a \r\n'.repeat(1_250_000 * size),
    ),
  'signatures of a body of uneven lines': (size) =>
    lines(
      ...['relaxed/relaxed', 'relaxed/simple', 'simple/simple', 'simple/relaxed'].map((c) =>
        signature(`c=${c}; d=reporter.example`),
      ),
      FROM,
      '',
      'a \r\n'.repeat(1_250_000 * size),
    ),
  'signatures of a body of empty lines': (size) =>
    lines(
      signature('c=relaxed/relaxed; d=reporter.example'),
      FROM,
      '',
      '\t\r\n'.repeat(1_500_000 * size),
      'x',
    ),
  'a signature of 10,000 names': (size) =>
    lines(
      signature(`d=reporter.example; h=${'a:'.repeat(20_000 * size)}from`),
      times(400, (i) => `x${i}: y\r\n`) + FROM,
      '',
      'x',
    ),
  'one member of a zip by many names': (size) => oneMember(60_000 * size, 1_030 * 1024),
  'one small member of a zip by many names': (size) => oneMember(60_000 * size, 900 * 1024),
  'a gzip of such a zip': (size) => gzipSync(oneMember(60_000 * size, 1_040 * 1024)),
  'a mail with such a zip': (size) => attached(oneMember(20_000 * size, 1_040 * 1024)),
  'a gzip of a mail with such a zip': (size) =>
    gzipSync(attached(oneMember(60_000 * size, 1_040 * 1024))),
  'a gzip that unpacks to a little over 1 MiB': (size) =>
    gzipSync(Buffer.alloc(1024 * 1024 * (1 + size / 10))),
  'a zip of reports': (size) =>
    zipOf(
      Array.from({ length: 12_000 * size }, (_, i) =>
        deflated(`${i}`, aReportWith({ id: `${i}` })),
      ),
    ),
  'a gzip of a zip of reports': (size) =>
    gzipSync(
      zipOf(
        Array.from({ length: 20_000 * size }, (_, i) =>
          stored(`${i}`, aReportWith({ id: `${i}` })),
        ),
      ),
    ),
  'multiparts without an end': (size) =>
    lines(
      FROM,
      `${TYPE}multipart/mixed; boundary=b`,
      '',
      `--b\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n`.repeat(800_000 * size),
    ),
  'parts without a body': (size) =>
    body('multipart/mixed; boundary=b', '--b\n'.repeat(2_000_000 * size)),
  'a boundary that comes last': (size) =>
    body(
      'multipart/mixed; boundary=b',
      `${times(8, (i) => `Content-Type: multipart/mixed; boundary=b${i}\r\n\r\n`)}${'-\r\n--\r\n'.repeat(1_000_000 * size)}--b\r\n`,
    ),
  'a boundary that is not there': (size) =>
    body('multipart/mixed; boundary=b', '--\n'.repeat(3_000_000 * size)),
  'addresses of a report': (size) =>
    gzipSync(
      aReportWith({
        records: times(350_000 * size, (i) =>
          aRecord({ ip: `2001:db8::${(i >> 16).toString(16)}:${(i & 0xffff).toString(16)}` }),
        ),
      }),
    ),
  'a mail with addresses of a report': (size) =>
    attached(
      gzipSync(
        aReportWith({
          records: times(350_000 * size, (i) =>
            aRecord({ ip: `2001:db8::${(i >> 16).toString(16)}:${(i & 0xffff).toString(16)}` }),
          ),
        }),
      ),
    ),
  'uuencode of zero lines': (size) =>
    body('text/plain', `begin 644 a\n${'M\n'.repeat(4_000_000 * size)}`, 'uuencode'),
  'uuencode of empty lines': (size) => lines(`begin 644 a\n${'!\n'.repeat(4_000_000 * size)}`),
  'uuencode of long lines': (size) =>
    lines(`begin 644 a\n${`_${' '.repeat(84)}\n`.repeat(200_000 * size)}`),
  'quoted-printable of bytes in hexadecimal': (size) =>
    body('text/plain', '=41'.repeat(3_000_000 * size), 'quoted-printable'),
  'quoted-printable of soft line ends': (size) =>
    body('text/plain', '=\n'.repeat(4_000_000 * size), 'quoted-printable'),
  'quoted-printable of = and blanks': (size) =>
    body('text/plain', `=${' '.repeat(70)}`.repeat(100_000 * size), 'quoted-printable'),
  'policies of a TLS report': (size) =>
    gzipSync(
      aTlsReportWith(
        `${'{"policy":{"policy-domain":"example.com"}},'.repeat(900_000 * size)}{"policy":{"policy-domain":"example.com"}}`,
      ),
    ),
  'failures of a TLS report': (size) =>
    attached(
      gzipSync(
        aTlsReportWith(
          `{"policy":{"policy-type":"sts","policy-domain":"example.com"},"failure-details":[${'{"sending-mta-ip":"192.0.2.1"},'.repeat(900_000 * size)}{}]}`,
        ),
      ),
    ),
  'signatures of others for a TLS report': (size) =>
    lines(
      ...['relaxed/relaxed', 'relaxed/simple', 'simple/simple', 'simple/relaxed'].flatMap((c) => [
        signature(`c=${c}; d=reporter.example`),
        signature(`c=${c}; d=other.example`),
      ]),
      'TLS-Report-Domain: example.com',
      FROM,
      '',
      'a \r\n'.repeat(1_250_000 * size),
    ),
  'base64 of many short lines': (size) =>
    body('text/plain', 'QQ==\n'.repeat(1_500_000 * size), 'base64'),
};

const SIZES = [0.05, 0.3, 1];

/** Each kind in three sizes. */
export const HOSTILE_COSTS: readonly Hostile[] = Object.entries(COSTLY).flatMap(([name, make]) =>
  SIZES.map((size) => ({ name: `${name}, ${size * 100} %`, bytes: () => make(size) })),
);
