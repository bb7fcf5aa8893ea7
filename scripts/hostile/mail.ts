/** Mails and mailboxes that cost too much to split. Most contain one good report as well. */
import { gzipSync } from 'node:zlib';
import type { Hostile } from './hostile.ts';
import { aReportWith } from './values.ts';
import { stored, zipOf } from './zip-bytes.ts';

interface Part {
  readonly headers?: readonly string[];
  readonly body: string;
}

const MIB = 1024 * 1024;
const REPORT = aReportWith({});
const IN_BASE64 = 'Content-Transfer-Encoding: base64';
const IN_QUOTED_PRINTABLE = 'Content-Transfer-Encoding: quoted-printable';
const ATTACHED = 'Content-Type: application/octet-stream';
const GOOD: Part = base64(gzipSync(REPORT));

function base64(content: Buffer | string, headers: readonly string[] = [ATTACHED]): Part {
  const body = Buffer.from(content).toString('base64').replace(/.{76}/g, '$&\n');
  return { headers: [IN_BASE64, ...headers], body };
}

const toText = ({ headers = [], body }: Part): string => [...headers, '', body].join('\n');

function multipart(parts: readonly Part[], boundary = 'b'): Part {
  const bodies = parts.map((part) => `--${boundary}\n${toText(part)}\n`);
  return {
    headers: [`Content-Type: multipart/mixed; boundary="${boundary}"`],
    body: `${bodies.join('')}--${boundary}--\n`,
  };
}

const mail = (part: Part): Buffer =>
  Buffer.from(`From: dmarc@reporter.example\n${toText(part)}`, 'latin1');

const besideGood = (...parts: readonly Part[]): Buffer => mail(multipart([...parts, GOOD]));

function nest(levels: number, wrap: (inner: Part, level: number) => Part): Part {
  let part: Part = GOOD;
  for (let level = levels; level > 0; level -= 1) part = wrap(part, level);
  return part;
}

/** A mailbox of this many bytes, whose last mail has a report. */
function mailbox(filling: string, bytes: number, start = ''): Buffer {
  const last = Buffer.concat([Buffer.from('\n\nFrom a\n'), mail(GOOD)]);
  return gzipSync(Buffer.concat([Buffer.from(start), Buffer.alloc(bytes, filling), last]));
}

const BODIES: readonly Hostile[] = [
  {
    name: 'a gzip of a stored zip member of 2.1 million header lines',
    bytes: () => {
      const lines = stored('lines', Buffer.alloc(6 * MIB, 'a:\n'));
      return mail(base64(gzipSync(zipOf([lines, stored('good.xml', REPORT)]), { level: 9 })));
    },
  },
  {
    name: 'base64 that pads each of 150,000 bytes',
    bytes: () => {
      const bytes = Buffer.from(REPORT.padEnd(150_000));
      const units = Array.from(bytes, (byte) => Buffer.from([byte]).toString('base64'));
      return mail({ headers: [IN_BASE64], body: units.join('') });
    },
  },
  {
    name: 'base64 of a million =',
    bytes: () => besideGood({ headers: [ATTACHED, IN_BASE64], body: '='.repeat(MIB) }),
  },
  {
    name: 'base64 without one letter of it',
    bytes: () => besideGood({ headers: [ATTACHED, IN_BASE64], body: '!\n'.repeat(MIB / 2) }),
  },
  {
    name: 'quoted-printable of a million =',
    bytes: () => besideGood({ headers: [ATTACHED, IN_QUOTED_PRINTABLE], body: '='.repeat(MIB) }),
  },
  {
    name: 'quoted-printable of = and a million blanks',
    bytes: () =>
      besideGood({ headers: [ATTACHED, IN_QUOTED_PRINTABLE], body: `=${' '.repeat(MIB)}x` }),
  },
  {
    name: 'quoted-printable of 7 million bytes in hexadecimal',
    bytes: () =>
      gzipSync(
        besideGood({ headers: [ATTACHED, IN_QUOTED_PRINTABLE], body: '=41'.repeat(7 * MIB) }),
      ),
  },
  {
    name: 'a report in an encoding called replacement',
    bytes: () =>
      mail({
        headers: ['Content-Type: text/xml; charset="utf-7"'],
        body: `<?xml version="1.0" encoding="replacement"?>${REPORT}`,
      }),
  },
];

const HEADERS: readonly Hostile[] = [
  {
    name: 'a mail with 100,000 header fields',
    bytes: () =>
      mail({ headers: [...(GOOD.headers ?? []), 'x: y\n'.repeat(100_000)], body: GOOD.body }),
  },
  {
    name: 'a header field of 40 MB',
    bytes: () =>
      gzipSync(
        mail({ headers: [...(GOOD.headers ?? []), `x: ${'y'.repeat(40 * MIB)}`], body: GOOD.body }),
      ),
  },
  {
    name: 'a header field folded 300,000 times',
    bytes: () =>
      mail({ headers: [...(GOOD.headers ?? []), `x:${'\n '.repeat(300_000)}`], body: GOOD.body }),
  },
  {
    name: 'a Content-Type of 60,000 continuations',
    bytes: () => {
      const params = Array.from({ length: 60_000 }, (_, i) => `; name*${i}*=%41`);
      return besideGood({ headers: [`Content-Type: a/b${params.join('')}`], body: 'x' });
    },
  },
  {
    name: 'a file name of 50,000 characters that turn the writing direction',
    bytes: () => mail(base64(REPORT, [`${ATTACHED}; name*=utf-8''${'%E2%80%AEa'.repeat(50_000)}`])),
  },
  {
    name: 'a Content-Type whose quotes never end',
    bytes: () => besideGood({ headers: [`${ATTACHED}; name="${'\\'.repeat(900_000)}`], body: 'x' }),
  },
  {
    name: 'line ends in every mixture',
    bytes: () => besideGood({ headers: [ATTACHED], body: '\r\r\n\n\r \r\n'.repeat(100_000) }),
  },
];

const STRUCTURES: readonly Hostile[] = [
  {
    name: 'a mail of 150,000 parts',
    bytes: () => {
      const { headers, body } = multipart([GOOD]);
      return mail({
        headers: headers ?? [],
        body: body.replace('--b--\n', '--b\n\n\n'.repeat(150_000)),
      });
    },
  },
  {
    name: '20,000 empty multiparts',
    bytes: () => {
      const empty = { headers: ['Content-Type: multipart/a; boundary=c'], body: '' };
      return mail(multipart([GOOD, ...Array<Part>(20_000).fill(empty)]));
    },
  },
  {
    name: 'eight multiparts in one another whose boundaries are lines of 249 dashes, in a gzip',
    bytes: () => {
      const line = '-'.repeat(249);
      const body = `${line}\n`.repeat(20_000);
      return gzipSync(besideGood(nest(8, (inner) => multipart([{ body }, inner], line))));
    },
  },
  {
    name: 'eight multiparts in one another whose lines are nearly their boundaries',
    bytes: () => {
      const body = `${'-'.repeat(99)}\n`.repeat(2_000);
      return besideGood(
        nest(8, (inner, level) => multipart([{ body }, inner], '-'.repeat(99 - level))),
      );
    },
  },
  {
    name: '200 multiparts in one another',
    bytes: () =>
      besideGood(
        nest(200, (inner, level) => multipart([inner, { body: 'x'.repeat(2_000) }], `n${level}`)),
      ),
  },
  {
    name: '50 mails in one another',
    bytes: () =>
      besideGood(
        nest(50, (inner) => ({
          headers: ['Content-Type: message/rfc822'],
          body: mail(inner).toString(),
        })),
      ),
  },
  {
    name: 'a boundary of one character in a body of it',
    bytes: () =>
      mail(multipart([GOOD, { body: '-'.repeat(900_000) }, { body: '-\n'.repeat(50_000) }], '-')),
  },
  {
    name: '150,000 lines that are nearly a boundary',
    bytes: () => besideGood({ body: '--bx\n'.repeat(150_000) }),
  },
  {
    name: 'a mailbox of 5 million messages',
    bytes: () => mailbox('From a\nto:b\n\n', 60 * MIB, `From a\n${mail(GOOD)}\n\n`),
  },
  {
    name: 'a mailbox of 2 million "From " lines without a header',
    bytes: () => mailbox('From a\n\n', 15 * MIB, 'From a\nto:b\n\n'),
  },
  {
    name: 'a mailbox of one message of 40 MB and one of a report',
    bytes: () => mailbox('x', 40 * MIB, 'From a\nto:b\n\n'),
  },
];

export const HOSTILE_MAILS: readonly Hostile[] = [...BODIES, ...HEADERS, ...STRUCTURES];
