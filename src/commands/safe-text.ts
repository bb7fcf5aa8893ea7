/**
 * Characters that change what a terminal shows of the text around them: control characters (C0, DEL, C1), marks
 * and overrides of the writing direction, separators of lines and paragraphs, and lone surrogates.
 */
const UNSAFE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to find.
  /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\p{Surrogate}/gu;

/** A text from outside for a terminal: what is unsafe stands there visibly, as `\u{202e}`. */
export function toSafeText(text: string): string {
  return text.replace(UNSAFE, (char) => `\\u{${char.charCodeAt(0).toString(16)}}`);
}

/** Lines of our own with texts from outside in them: the line feeds stay. */
export function toSafeLines(text: string): string {
  return text.split('\n').map(toSafeText).join('\n');
}

/** A value as JSON in one line that is safe in a terminal. Outside strings JSON has none of the characters. */
export function toSafeJson(value: unknown): string {
  return JSON.stringify(value).replace(
    UNSAFE,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
