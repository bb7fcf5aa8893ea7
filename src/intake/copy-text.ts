/**
 * The same text in memory of its own. The parser's texts are parts of a piece of the document, and V8 keeps the
 * whole piece in memory for as long as one of its parts is used.
 */
export function copyText(text: string): string {
  return text === '' ? '' : Buffer.from(text, 'utf16le').toString('utf16le');
}

/** At most so many characters of a text, and no half of a surrogate pair at its end. */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return text.slice(0, maxChars).replace(/[\ud800-\udbff]$/, '');
}
