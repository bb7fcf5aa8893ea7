/**
 * The bounds of what is verified. Hashing a body costs up to 0.1 s for each MiB and signature; the library's reading of
 * a header grows with the square of its lines. Real mails have a few signatures and a header of some kilobytes.
 */
const MAX_BYTES = 5 * 1024 * 1024;
const MAX_HEADER_BYTES = 64 * 1024;
const MAX_HEADER_LINES = 1_000;
const MAX_SIGNATURES = 6;
/** Each has a seal that is verified. */
const MAX_SEALS = 6;

const SIGNATURE = /^(?:dkim-signature|arc-message-signature)[ \t]*:/gim;
const SEAL = /^arc-seal[ \t]*:/gim;

/** The mail with CR LF at the ends of lines, as it was signed; undefined for one that is beyond the bounds. */
export function toVerifiable(mail: Uint8Array): Buffer | undefined {
  if (mail.length > MAX_BYTES) return undefined;
  const bytes = toCrLf(Buffer.from(mail.buffer, mail.byteOffset, mail.length));
  const end = bytes.subarray(0, MAX_HEADER_BYTES).indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const header = bytes.toString('latin1', 0, end);
  if (count(header, /\n/g) > MAX_HEADER_LINES || count(header, SEAL) > MAX_SEALS) return undefined;
  return count(header, SIGNATURE) > MAX_SIGNATURES ? undefined : bytes;
}

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

/** A folder's mails often have LF alone. */
function toCrLf(bytes: Buffer): Buffer {
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1))
    if (bytes[at - 1] !== CR)
      return Buffer.from(bytes.toString('latin1').replaceAll(/\r?\n/g, '\r\n'), 'latin1');
  return bytes;
}

const CR = 0x0d;
const LF = 0x0a;
