import { UNSAFE } from '../../domain/unsafe-characters.ts';

/** Half of a surrogate pair is written as three bytes that are not UTF-8. */
const UNSAFE_IN_TERMINAL = new RegExp(`${UNSAFE.source}|\\p{Surrogate}`, 'gu');

/** Untrusted text for a terminal: unsafe characters are shown as `\u{202e}`. */
export function toTerminalText(text: string): string {
  return text.replace(UNSAFE_IN_TERMINAL, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`);
}

/** Our own lines that contain untrusted text: the line feeds are kept. */
export function toSafeLines(text: string): string {
  return text.split('\n').map(toTerminalText).join('\n');
}

/** A value as one line of JSON that is safe in a terminal. Outside strings, JSON has none of the characters. */
export function toSafeJson(value: unknown): string {
  return JSON.stringify(value).replace(UNSAFE_IN_TERMINAL, toUnits);
}

/** JSON escapes each half of a pair by itself. */
const toUnits = (char: string): string =>
  char.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
