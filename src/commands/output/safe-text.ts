/** What changes how a terminal shows text: control characters, direction marks, line separators, lone surrogates. */
const UNSAFE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds control characters.
  /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\p{Surrogate}/gu;

/** Untrusted text for a terminal: unsafe characters are shown as `\u{202e}`. */
export function toSafeText(text: string): string {
  return text.replace(UNSAFE, (char) => `\\u{${char.charCodeAt(0).toString(16)}}`);
}

/** Our own lines that contain untrusted text: the line feeds are kept. */
export function toSafeLines(text: string): string {
  return text.split('\n').map(toSafeText).join('\n');
}

/** A value as one line of JSON that is safe in a terminal. Outside strings, JSON has none of the characters. */
export function toSafeJson(value: unknown): string {
  return JSON.stringify(value).replace(
    UNSAFE,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
