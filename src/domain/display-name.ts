import { Failure } from './failure.ts';

const MAX_CHARS = 100;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds control characters.
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/**
 * A name that people give, as stored: trimmed, 1 to 100 characters, none of them a control character. Throws
 * `validation_error`.
 */
export function parseDisplayName(text: string, what: 'A key' | 'An account'): string {
  const name = text.trim();
  const length = [...name].length;
  if (length >= 1 && length <= MAX_CHARS && !CONTROL_CHARACTER.test(name)) return name;
  throw new Failure(
    'validation_error',
    `${what} needs a name of 1 to ${MAX_CHARS} characters, without control characters.`,
  );
}
