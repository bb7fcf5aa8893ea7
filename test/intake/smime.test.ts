import { describe, expect, test } from 'vitest';
import { fixture, outcomes, PLAIN, readAll } from '../support/intake.ts';
import { base64, mail } from '../support/mail.ts';

/** The S/MIME message of a mail. */
function messageOf(name: string): Buffer {
  const [, body = ''] = fixture(`${name}.eml`)
    .toString('latin1')
    .split(/\r?\n\r?\n/);
  return Buffer.from(body, 'base64');
}

const SIGNED = messageOf('openssl-signed');
const STREAMED = messageOf('openssl-signed-streamed');

/** A string in parts of less than 128 bytes. */
function inParts(parts: readonly string[]): Buffer {
  const bytes = parts.map((part) => `\x04${String.fromCharCode(part.length)}${part}`);
  return Buffer.from(`\x24\x80${bytes.join('')}\0\0`, 'latin1');
}

/** The beginning of signed data, in which every length is unknown, up to and with this string. */
function signed(string: Buffer, digests = Buffer.from('3100', 'hex')): Buffer {
  const head = Buffer.from('308006092a864886f70d010702a0803080020101', 'hex');
  const content = Buffer.from('308006092a864886f70d010701a080', 'hex');
  return Buffer.concat([head, digests, content, string]);
}

const inMail = (message: Uint8Array) =>
  mail(base64(message, ['Content-Type: application/pkcs7-mime; smime-type=signed-data']));

describe('a mail in S/MIME', () => {
  test.each([
    ['signed as a whole', fixture('openssl-signed.eml')],
    ['signed as a whole, in parts of unknown length', fixture('openssl-signed-streamed.eml')],
    ['signed beside its text', fixture('openssl-signed-detached.eml')],
    ['in a mail declared as something else', mail(base64(SIGNED))],
    ['alone, as a file', STREAMED],
  ])('%s is opened', async (_, input) => {
    expect((await outcomes(input)).filter((one) => one !== 'ignored no_report')).toEqual([
      'report 2026-0001',
    ]);
  });

  test.each(['openssl-encrypted', 'openssl-encrypted-gcm'])(
    '%s is said to be encrypted',
    async (name) => {
      const [document] = await readAll(fixture(`${name}.eml`));
      expect(document).toMatchObject({
        kind: 'rejected',
        refusal: { message: 'It is encrypted (S/MIME): only its recipient can read it.' },
      });
    },
  );

  test('that is signed and has no report is rejected like any other without', async () => {
    const message = signed(inParts(['Content-Type: text/plain\r\n\r\nHello']));
    expect(await outcomes(inMail(message))).toEqual(['rejected none_found']);
  });

  test.each([
    ['of known length', SIGNED],
    ['of unknown length', STREAMED],
  ])('%s that ends anywhere has one outcome', async (_, message) => {
    for (let end = 0; end < message.length; end += 7)
      expect(await outcomes(inMail(message.subarray(0, end)))).toHaveLength(1);
  });

  test.each([
    ['values within values', signed(Buffer.alloc(0), Buffer.from('3180'.repeat(100_000), 'hex'))],
    ['a length of 126 digits', signed(Buffer.from(`04fe${'ff'.repeat(126)}`, 'hex'))],
    [
      'signed data in signed data',
      signed(Buffer.concat([Buffer.from('0474', 'hex'), SIGNED.subarray(0, 116)])),
    ],
    ['a million parts of no byte', signed(inParts(Array(1_000_000).fill('')))],
  ])('with %s is rejected', async (_, message) => {
    expect(await outcomes(inMail(message))).toEqual([expect.stringMatching(/^rejected /)]);
  });

  test('whose string is in parts of one byte is opened', async () => {
    expect(await outcomes(signed(inParts([...PLAIN])))).toEqual(['report 2026-0001']);
  });
});
