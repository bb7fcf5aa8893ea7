import { gzipSync } from 'node:zlib';
import { describe, expect, it, test } from 'vitest';
import { HOSTILE_MAILS } from '../../scripts/hostile/mail.ts';
import { countOutcomes } from '../support/count-outcomes.ts';
import { outcomes, PLAIN, readAll } from '../support/intake.ts';
import { base64, mail, multipart, text } from '../support/mail.ts';

const REPORT = 'report 2026-0001';

/** The outcomes of each hostile mail, and how many documents have each. */
const OUTCOMES: Readonly<Record<string, object>> = {
  'a gzip of a stored zip member of 2.1 million header lines': {
    'ignored no_report': 1,
    'report 1': 1,
  },
  'base64 that pads each of 150,000 bytes': { 'report 1': 1 },
  'base64 of a million =': { 'ignored empty': 1, 'report 1': 1 },
  'base64 without one letter of it': { 'ignored empty': 1, 'report 1': 1 },
  'quoted-printable of a million =': { 'ignored no_report': 1, 'report 1': 1 },
  'quoted-printable of = and a million blanks': { 'ignored no_report': 1, 'report 1': 1 },
  'quoted-printable of 7 million bytes in hexadecimal': { 'ignored no_report': 1, 'report 1': 1 },
  'a report in an encoding called replacement': { 'report 1': 1 },
  'a mail with 100,000 header fields': { 'report 1': 1 },
  'a header field of 40 MB': { 'report 1': 1 },
  'a header field folded 300,000 times': { 'report 1': 1 },
  'a Content-Type of 60,000 continuations': { 'ignored no_report': 1, 'report 1': 1 },
  'a file name of 50,000 characters that turn the writing direction': { 'report 1': 1 },
  'a Content-Type whose quotes never end': { 'ignored no_report': 1, 'report 1': 1 },
  'line ends in every mixture': { 'ignored empty': 1, 'report 1': 1 },
  'a mail of 150,000 parts': { 'report 1': 1, 'rejected too_large': 1 },
  '20,000 empty multiparts': { 'report 1': 1, 'rejected too_large': 1 },
  'eight multiparts in one another whose boundaries are lines of 249 dashes, in a gzip': {
    'ignored no_report': 1,
    'report 1': 1,
  },
  'eight multiparts in one another whose lines are nearly their boundaries': { 'report 1': 1 },
  '200 multiparts in one another': { 'ignored no_report': 1, 'report 1': 1 },
  '50 mails in one another': { 'rejected too_deep': 1, 'report 1': 1 },
  'a boundary of one character in a body of it': { 'report 1': 1 },
  '150,000 lines that are nearly a boundary': { 'report 1': 1 },
  'a mailbox of 5 million messages': {
    'report 1': 1,
    'ignored no_report': expect.any(Number),
    'rejected too_large': 1,
  },
  'a mailbox of 2 million "From " lines without a header': { 'rejected too_costly': 1 },
  'a mailbox of one message of 40 MB and one of a report': {
    'ignored no_report': 1,
    'report 1': 1,
  },
};

test.each(HOSTILE_MAILS)('$name', async ({ name, bytes }) => {
  expect(await countOutcomes(bytes())).toEqual(OUTCOMES[name]);
});

describe('a boundary', () => {
  const PARTS = multipart([text('Hello'), base64(gzipSync(PLAIN))], 'mixed', 'first second');

  test.each([
    ['in two continuations', 'boundary*0="first se"; boundary*1=cond'],
    ['in continuations in the wrong order', 'boundary*1=cond; boundary*0="first se"'],
    ['that is encoded', "boundary*=utf-8''first%20second"],
    ['in continuations of which one is encoded', "boundary*0*=utf-8''first%20; boundary*1=second"],
    [
      'beside a quoted parameter that looks like one',
      'x="; boundary=foo"; boundary="first second"',
    ],
    ['with quoted pairs', 'boundary="first\\ second"'],
  ])('%s is read (RFC 2231)', async (_, parameters) => {
    const headers = [`Content-Type: multipart/mixed; ${parameters}`];
    expect(await outcomes(mail({ ...PARTS, headers }))).toEqual([REPORT]);
  });
});

it('base64 is decoded to its end, wherever it has padding and line breaks', async () => {
  const padded = Array.from(Buffer.from(PLAIN), (byte) => Buffer.from([byte]).toString('base64'));
  const part = { headers: ['Content-Transfer-Encoding: base64'], body: '' };
  for (const body of [
    padded.join('\r\n '),
    Buffer.from(PLAIN).toString('base64').split('').join('\n'),
  ])
    expect(await outcomes(mail({ ...part, body }))).toEqual([REPORT]);
});

it('quoted-printable is decoded across slices', async () => {
  const headers = ['Content-Type: text/xml', 'Content-Transfer-Encoding: quoted-printable'];
  for (let shift = 0; shift < 6; shift += 1) {
    const escaped = '=20= \r\n'.repeat(30_000);
    const body = `<!--${'x'.repeat(shift)}${escaped}-->${PLAIN.replaceAll('=', '=3D').replace(/<\?xml.*?\?>/, '')}`;
    expect(await outcomes(mail({ headers, body }))).toEqual([REPORT]);
  }
});

it('a file name in RFC 2231 is shown decoded, without directional controls', async () => {
  const headers = ["Content-Disposition: attachment; filename*=utf-8''r%E2%80%AE%C3%A9.xml"];
  const [document] = await readAll(mail(base64(PLAIN, headers)));
  expect(document?.member).toEqual(['ré.xml']);
});
