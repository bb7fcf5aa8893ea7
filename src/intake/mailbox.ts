const MESSAGE_START = '\nFrom ';
/** The "From " line, then a header field at once: a sentence that begins with "From" has none. */
const IS_MESSAGE_START = /^From [^\n]*\n[!-9;-~]+:/;
const NEWLINE = 10;
const CARRIAGE_RETURN = 13;

/**
 * The messages of a mailbox file (mbox, RFC 4155), which begins with "From "; else the one mail. They are
 * slices, made one by one as they are asked for: a box may have millions of them.
 */
export function* splitMailbox(bytes: Uint8Array): Generator<Uint8Array> {
  const box = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let start = 0;
  if (box.toString('latin1', 0, 5) === 'From ')
    for (let at = box.indexOf(MESSAGE_START); at >= 0; at = box.indexOf(MESSAGE_START, at + 1)) {
      if (!isAfterBlankLine(box, at) || !beginsMessage(box, at + 1)) continue;
      yield box.subarray(start, at + 1);
      start = at + 1;
    }
  yield box.subarray(start);
}

function isAfterBlankLine(box: Buffer, newline: number): boolean {
  const before = box[newline - 1] === CARRIAGE_RETURN ? newline - 2 : newline - 1;
  return box[before] === NEWLINE;
}

const beginsMessage = (box: Buffer, at: number): boolean =>
  IS_MESSAGE_START.test(box.toString('latin1', at, at + 1000).replaceAll('\r', ''));
