import { Refusal } from '../domain/refusal.ts';
import { MAX_MAIL_BYTES } from './ceilings.ts';
import { toContent } from './content.ts';
import { type Member, toDisplayName } from './member.ts';
import { type MimePart, parameterOf, splitParts } from './mime.ts';
import type { WarningLog } from './warnings.ts';

type Headers = MimePart['headers'];

/** A mail's own text, unless it is marked or named as an attachment. */
const TEXT = /^(?:text\/(?:plain|html|rfc822-headers)\b|$)/i;
const MAX_BASE64_UNITS = 100_000;
const IMAGE = /^image\//i;

/**
 * The parts of a mail in their order, decoded to bytes: a text's charset is never asked, because a
 * report sent as text has its own encoding, and what is called text may be a gzip.
 */
export async function* readMail(bytes: Uint8Array, log: WarningLog): AsyncGenerator<Member> {
  if (bytes.length > MAX_MAIL_BYTES)
    throw new Refusal('too_large', `The mail is larger than ${MAX_MAIL_BYTES} bytes.`);
  const mail = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let index = 0;
  for (const part of splitParts(mail, log)) {
    index += 1;
    yield {
      name: toDisplayName(fileNameOf(part.headers), `part ${index}`),
      content: toContent(decode(part)),
      isQuiet: !isAttached(part.headers),
    };
  }
}

function isAttached(headers: Headers): boolean {
  const type = headers.get('content-type') ?? '';
  if (/^attachment\b/i.test(headers.get('content-disposition') ?? '')) return true;
  if (IMAGE.test(type)) return false;
  return fileNameOf(headers) !== undefined || !TEXT.test(type);
}

function fileNameOf(headers: Headers): string | undefined {
  return (
    parameterOf(headers.get('content-disposition') ?? '', 'filename') ??
    parameterOf(headers.get('content-type') ?? '', 'name')
  );
}

function decode({ headers, body }: MimePart): Uint8Array {
  const [encoding] = /[\w-]+/.exec(headers.get('content-transfer-encoding') ?? '') ?? [];
  if (encoding?.toLowerCase() === 'base64') return decodeBase64(body.toString('latin1'));
  if (encoding?.toLowerCase() !== 'quoted-printable') return body;
  return decodeQuotedPrintable(body.toString('latin1'));
}

/** Padding ends a unit and not always the text: some mailers pad every line. */
function decodeBase64(text: string): Uint8Array {
  const units = text.split(/=+\s*/, MAX_BASE64_UNITS);
  return Buffer.concat(units.map((unit) => Buffer.from(unit, 'base64')));
}

/** RFC 2045, 6.7: soft line ends, blanks before line ends, and bytes in hexadecimal. */
function decodeQuotedPrintable(text: string): Uint8Array {
  const joined = text.replace(/=[ \t]*\r?\n/g, '');
  const decoded = joined.replace(/=([\da-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(decoded, 'latin1');
}
