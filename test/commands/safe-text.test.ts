import { expect, it, test } from 'vitest';
import { renderRows } from '../../src/commands/output/output.ts';
import { toSafeJson, toSafeLines, toTerminalText } from '../../src/commands/output/safe-text.ts';

test.each([
  ['a terminal escape sequence', '\u001b[2Jgone', '\\u{1b}[2Jgone'],
  ['an escape sequence in one C1 character', '\u009b31mred', '\\u{9b}31mred'],
  ['a line that imitates another', 'a\r\nstored 9', 'a\\u{d}\\u{a}stored 9'],
  ['an override of the writing direction', 'lmx.\u202egpj', 'lmx.\\u{202e}gpj'],
  ['an isolate', '\u2066a\u2069', '\\u{2066}a\\u{2069}'],
  ['an Arabic letter mark', '\u061ca', '\\u{61c}a'],
  ['separators of lines and paragraphs', 'a\u2028b\u2029c', 'a\\u{2028}b\\u{2029}c'],
  ['DEL and NUL', '\u007f\u0000', '\\u{7f}\\u{0}'],
  ['a zero-width space', 'a\u200bb', 'a\\u{200b}b'],
  ['a letter of a tag, which nobody sees', 'a\u{e0041}b', 'a\\u{e0041}b'],
  ['half a surrogate pair', 'a\ud83d', 'a\\u{d83d}'],
])('%s is shown and has no effect', (_, text, safe) => {
  expect(toTerminalText(text)).toBe(safe);
});

test.each(['Exämple “Mail” ✉ 📬', '中文', 'a|b', 'c:\\u{1b}'])('“%s” is not changed', (text) => {
  expect(toTerminalText(text)).toBe(text);
});

it('keeps the line feeds of our own lines', () => {
  expect(toSafeLines('one\ntwo\u001b')).toBe('one\ntwo\\u{1b}');
});

it('makes JSON that is valid, means the same and has no unsafe characters', () => {
  const value = { name: '\u001b[2J\u0085\u009b\u007f\u202e\u2028\ufeff\u200b\u{e0041}\ud83d ✉ 📬' };
  const json = toSafeJson(value);
  expect(JSON.parse(json)).toEqual(value);
  expect(toTerminalText(json)).toBe(json);
  expect(json).toContain('\\u009b\\u007f\\u202e\\u2028\\ufeff\\u200b\\udb40\\udc41');
});

it('keeps a name with a line feed in its own row of a table', () => {
  const table = renderRows([{ file: 'a.xml\nb.xml\u001b[31m' }]);
  expect(table).toContain('a.xml\\u{a}b.xml\\u{1b}[31m');
});
