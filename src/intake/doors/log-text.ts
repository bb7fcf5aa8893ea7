const MAX_CHARS = 320;

/** A text from outside for the log: printable ASCII, everything else as `\u{…}`, and bounded. */
export function toLogText(text: string): string {
  return text
    .slice(0, MAX_CHARS)
    .replace(/[^\x20-\x7e]/gu, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`);
}
