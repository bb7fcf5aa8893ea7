/** The parser's texts are slices of a piece of the document, which V8 keeps in memory while a slice is in use. */
export function copyText(text: string): string {
  return text === '' ? '' : Buffer.from(text, 'utf16le').toString('utf16le');
}

/** At most `maxChars` characters of a text, without half a surrogate pair at its end. */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return text.slice(0, maxChars).replace(/[\ud800-\udbff]$/, '');
}
