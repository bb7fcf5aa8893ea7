import type { Budget } from '../budget.ts';
import { toBuffer } from '../content.ts';

const MESSAGE_START = Buffer.from('\nFrom ');
/** A "From " line and the name of the next header field are together at most this long. */
const MAX_LINE_BYTES = 1_000;
const COLON = 58;
const NEWLINE = 10;
const CARRIAGE_RETURN = 13;

/**
 * The messages of a mailbox file (mbox, RFC 4155), which begins with "From "; for other bytes, the one mail. They are
 * slices, made one by one on demand: a mailbox may have millions of them.
 */
export function* splitMailbox(bytes: Uint8Array, budget: Budget): Generator<Uint8Array> {
  const box = toBuffer(bytes);
  let start = 0;
  if (box.toString('latin1', 0, 5) === 'From ')
    for (const next of findMessageStarts(box, budget)) {
      yield box.subarray(start, next);
      start = next;
    }
  yield box.subarray(start);
}

/** Where messages begin, other than at the beginning of the bytes. */
function* findMessageStarts(box: Buffer, budget: Budget): Generator<number> {
  for (let at = box.indexOf(MESSAGE_START); at >= 0; at = box.indexOf(MESSAGE_START, at + 1)) {
    budget.spend('match');
    if (isAfterBlankLine(box, at) && beginsMessage(box, at + 1)) yield at + 1;
  }
}

function isAfterBlankLine(box: Buffer, newline: number): boolean {
  const before = box[newline - 1] === CARRIAGE_RETURN ? newline - 2 : newline - 1;
  return box[before] === NEWLINE;
}

/** A header field must follow the "From " line. That distinguishes it from a sentence that begins with "From". */
function beginsMessage(box: Buffer, at: number): boolean {
  const most = at + MAX_LINE_BYTES;
  let name = at;
  while (name < most && box[name] !== NEWLINE) name += 1;
  let end = name + 1;
  while (end < most && isOfFieldName(box[end])) end += 1;
  return end > name + 1 && box[end] === COLON;
}

const isOfFieldName = (byte = 0): boolean => byte > 32 && byte < 127 && byte !== COLON;
