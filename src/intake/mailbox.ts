const MESSAGE_START = '\nFrom ';
/** The "From " line, then a header field at once: a sentence that begins with "From" has none. */
const IS_MESSAGE_START = /^From [^\n]*\n[!-9;-~]+:/;

/** The messages of a mailbox file (mbox, RFC 4155), which begins with "From "; else the one mail. */
export function splitMailbox(bytes: Uint8Array): readonly Uint8Array[] {
  const box = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (box.toString('latin1', 0, 5) !== 'From ') return [bytes];
  const messages: Uint8Array[] = [];
  let start = 0;
  for (let at = box.indexOf(MESSAGE_START); at >= 0; at = box.indexOf(MESSAGE_START, at + 1)) {
    if (!isAfterBlankLine(box, at) || !beginsMessage(box, at + 1)) continue;
    messages.push(box.subarray(start, at + 1));
    start = at + 1;
  }
  return [...messages, box.subarray(start)];
}

const isAfterBlankLine = (box: Buffer, newline: number): boolean =>
  /\n\r?$/.test(box.toString('latin1', newline - 2, newline));

const beginsMessage = (box: Buffer, at: number): boolean =>
  IS_MESSAGE_START.test(box.toString('latin1', at, at + 1000).replaceAll('\r', ''));
