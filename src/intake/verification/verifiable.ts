/**
 * The bounds of what is verified. Hashing a body costs up to 0.1 s for each MiB and signature; the library's work grows
 * with the square of the lines of a header, and of the length of a line. Real mails have a few signatures and a header of some kilobytes.
 */
const MAX_BYTES = 5 * 1024 * 1024;
const MAX_HEADER_BYTES = 64 * 1024;
const MAX_HEADER_LINES = 1_000;
/** Ten times what RFC 5322 allows. */
const MAX_LINE_BYTES = 10_000;
const MAX_SIGNATURES = 6;
/** Each has a seal that is verified. */
const MAX_SEALS = 6;

const SIGNATURE = /^(?:dkim-signature|arc-message-signature)[ \t]*:/gim;
const SEAL = /^arc-seal[ \t]*:/gim;
const RESULTS = /^authentication-results[ \t]*:/gim;

/**
 * The mail with CR LF at the ends of lines, as it was signed, and whether a field of its header may say who sent it.
 * undefined for a mail that is beyond the bounds.
 */
export function toVerifiable(mail: Uint8Array) {
  if (mail.length > MAX_BYTES) return undefined;
  const bytes = toCrLf(Buffer.from(mail.buffer, mail.byteOffset, mail.length));
  if (bytes === undefined) return undefined;
  const end = bytes.subarray(0, MAX_HEADER_BYTES).indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const header = bytes.toString('latin1', 0, end);
  const [signatures, seals] = [count(header, SIGNATURE), count(header, SEAL)];
  if (count(header, /\n/g) > MAX_HEADER_LINES || signatures > MAX_SIGNATURES || seals > MAX_SEALS)
    return undefined;
  return { bytes, isSigned: signatures + seals + count(header, RESULTS) > 0 };
}

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

/** A folder's mails often have LF alone. undefined when a line is too long. */
function toCrLf(bytes: Buffer): Buffer | undefined {
  let [begin, hasBareLf] = [0, false];
  while (begin < bytes.length) {
    const at = bytes.indexOf(LF, begin);
    const end = at === -1 ? bytes.length : at;
    if (end - begin > MAX_LINE_BYTES) return undefined;
    hasBareLf ||= at > 0 && bytes[at - 1] !== CR;
    begin = end + 1;
  }
  if (!hasBareLf) return bytes;
  return Buffer.from(bytes.toString('latin1').replaceAll(/\r?\n/g, '\r\n'), 'latin1');
}

const CR = 0x0d;
const LF = 0x0a;
