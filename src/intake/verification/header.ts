import type { Budget } from '../budget.ts';
import { type Field, findBody, splitFields } from '../containers/mime.ts';

/** Bounds of what is verified. Real mails have a few signatures and a header of some kilobytes. */
const MAX_BYTES = 5 * 1024 * 1024;
const MAX_HEADER_BYTES = 64 * 1024;
const MAX_FIELDS = 1_000;
/** The fields that the library parses whether they count or not, and what of them a mail may have. */
const PARSED = /^(?:dkim-signature|arc-.+)$/;
const MAX_PARSED = 50;
const MAX_AUTHOR_CHARS = 4_000;
const CR = 0x0d;
const LF = 0x0a;

export interface MailToCheck {
  readonly fields: readonly Field[];
  /** The header as it is in the mail. */
  readonly header: Buffer;
  readonly body: Buffer;
}

/**
 * The parts of a mail, found as the reader finds them. undefined for a mail beyond the bounds, or with a line in its header that
 * readers may understand differently: the one before a mail in a mailbox, or in a file of Apple's program.
 */
export function splitMail(mail: Buffer, budget: Budget): MailToCheck | undefined {
  if (mail.length > MAX_BYTES) return undefined;
  const { end, start } = findBody(mail.subarray(0, MAX_HEADER_BYTES), budget);
  if (end === 0 || start >= MAX_HEADER_BYTES) return undefined;
  const header = mail.subarray(0, end);
  budget.spend('decodedByte', header.length);
  const fields = splitFields(header.toString('latin1').replace(/\r?\n$/, ''));
  const isPlain = fields.every(({ name, text }) => name !== '' && !LONE_CR.test(text));
  const parsed = fields.filter(({ name }) => PARSED.test(name));
  const author = fields.find(({ name }) => name === 'from')?.text ?? '';
  const isBounded = fields.length <= MAX_FIELDS && parsed.length <= MAX_PARSED;
  if (!isPlain || !isBounded || author.length > MAX_AUTHOR_CHARS) return undefined;
  return { fields, header, body: mail.subarray(start) };
}

const LONE_CR = /\r(?!\n)/;

/** With CR LF at the ends of lines, as it was signed: a folder's mails often have LF alone. */
export function toCrLf(body: Buffer, budget: Budget): Buffer {
  let hasBareLf = false;
  for (let at = body.indexOf(LF); at >= 0; at = body.indexOf(LF, at + 1)) {
    budget.spend('line');
    hasBareLf ||= body[at - 1] !== CR;
  }
  if (!hasBareLf) return body;
  return Buffer.from(body.toString('latin1').replaceAll(/\r?\n/g, '\r\n'), 'latin1');
}
