import { Refusal } from '../../domain/reports/refusal.ts';
import { toSizeText } from '../../domain/size.ts';
import type { Budget } from '../budget.ts';
import { type Content, toBuffer } from '../content.ts';
import { decodeUnicode, findUnicode } from '../document/xml-text.ts';
import { MAX_MAIL_BYTES } from '../limits.ts';
import { type Inherited, type Member, toDisplayName } from './member.ts';
import { type MimePart, splitParts } from './mime.ts';
import { decodeBody } from './transfer-encoding.ts';

/** A mail's own text, unless it is marked or named as an attachment. */
const TEXT = /^(?:text\/(?:plain|html|rfc822-headers)\b|$)/i;
const IMAGE = /^image\//i;
/** RFC 8460, section 6.3. */
const TLS_TYPE = /^application\/tlsrpt\+/i;
/** A file that was uploaded has `form-data` (RFC 7578, 4.2). */
const ATTACHMENT = /^(?:attachment|form-data)\b/i;
/** RFC 7489, 7.2.1.1, and what reporters make of it. An answer to a report is none. */
const REPORT_SUBJECT = /^(?!re:).*\breport domain\s*:/i;
/** What Apple's program writes before a mail in a file (.emlx): its length. What it knows of the mail is behind it. */
const LENGTH_LINE = /^(\d{1,10})[ \t]*\r?\n/;
const LENGTH_LINE_BYTES = 80;

/**
 * The parts of a mail in order, decoded to bytes. The charset of a text is ignored, because a report sent as text has
 * its own encoding, and a part declared as text may be a gzip.
 */
export async function* readMail(
  bytes: Uint8Array,
  { budget, log }: Inherited,
  isVerified?: boolean,
): AsyncGenerator<Member> {
  if (bytes.length > MAX_MAIL_BYTES)
    throw new Refusal('too_large', `The mail is larger than ${toSizeText(MAX_MAIL_BYTES)}.`);
  let index = 0;
  const mail = isVerified ? toBuffer(bytes) : toMail(bytes, budget);
  for (const part of splitParts(mail, { budget, log }, { nesting: 0, isVerified })) {
    index += 1;
    yield {
      name: toDisplayName(fileNameOf(part), `part ${index}`),
      content: isPiece(part) ? refuse(PIECE) : decodeBody(part.body, part.encoding, budget),
      isQuiet: !isAttached(part),
      isPart: true,
      charset: part.type.params.get('charset'),
      isExpected: REPORT_SUBJECT.test(part.subject),
      isTls: TLS_TYPE.test(part.type.value),
      tlsDomain: part.tlsDomain,
    };
  }
}

/** The mail in the bytes that a mail program saved. */
function toMail(bytes: Uint8Array, budget: Budget): Buffer {
  const saved = toBuffer(bytes);
  const [line, length] = LENGTH_LINE.exec(saved.toString('latin1', 0, LENGTH_LINE_BYTES)) ?? [];
  if (line !== undefined) return saved.subarray(line.length, line.length + Number(length));
  if (!findUnicode(bytes)?.startsWith('utf-16')) return saved;
  budget.spend('decodedByte', bytes.length);
  return Buffer.from(decodeUnicode(bytes));
}

const PIECE = new Refusal(
  'no_report',
  'It is one piece of a mail that was sent in several (message/partial).',
);

const isPiece = ({ type }: MimePart): boolean => /^message\/partial$/i.test(type.value);

// biome-ignore lint/correctness/useYield: it has no bytes.
async function* refuse(refusal: Refusal): Content {
  throw refusal;
}

function isAttached(part: MimePart): boolean {
  if (ATTACHMENT.test(part.disposition.value)) return true;
  if (IMAGE.test(part.type.value)) return false;
  return fileNameOf(part) !== undefined || !TEXT.test(part.type.value);
}

const fileNameOf = ({ disposition, type }: MimePart): string | undefined =>
  disposition.params.get('filename') ?? type.params.get('name');
