import { Refusal } from '../../domain/reports/refusal.ts';
import { toSizeText } from '../../domain/size.ts';
import { MAX_MAIL_BYTES } from '../limits.ts';
import { type Inherited, toDisplayName } from './member.ts';
import { type MimePart, splitParts } from './mime.ts';
import { decodeBody } from './transfer-encoding.ts';

/** A mail's own text, unless it is marked or named as an attachment. */
const TEXT = /^(?:text\/(?:plain|html|rfc822-headers)\b|$)/i;
const IMAGE = /^image\//i;
const ATTACHMENT = /^attachment\b/i;

/**
 * The parts of a mail in order, decoded to bytes. The charset of a text is ignored, because a report sent as text has
 * its own encoding, and a part declared as text may be a gzip.
 */
export async function* readMail(bytes: Uint8Array, { budget, log }: Inherited) {
  if (bytes.length > MAX_MAIL_BYTES)
    throw new Refusal('too_large', `The mail is larger than ${toSizeText(MAX_MAIL_BYTES)}.`);
  const mail = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let index = 0;
  for (const part of splitParts(mail, { budget, log })) {
    index += 1;
    yield {
      name: toDisplayName(fileNameOf(part), `part ${index}`),
      content: decodeBody(part.body, part.encoding, budget),
      isQuiet: !isAttached(part),
      isPart: true,
    };
  }
}

function isAttached(part: MimePart): boolean {
  if (ATTACHMENT.test(part.disposition.value)) return true;
  if (IMAGE.test(part.type.value)) return false;
  return fileNameOf(part) !== undefined || !TEXT.test(part.type.value);
}

const fileNameOf = ({ disposition, type }: MimePart): string | undefined =>
  disposition.params.get('filename') ?? type.params.get('name');
