import { isUuid } from '../../domain/uuid.ts';

/*
 * Tables for a terminal. They fit its width: the widest columns wrap, and ids and the prefixes of keys are never
 * broken, so that they can be copied. Where even that is too wide, each row becomes a block of lines.
 */

const GAP = '  ';
/** A column that is not wider keeps its width. */
const MIN_WIDTH = 12;
/** The prefix of a key, alone or as `name (prefix)`. */
const PREFIX = /^\(?plb_live_[0-9A-Za-z]{4}\)?$/;
/** Characters that take two columns, and none. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\uff01-\uff60]/u;
const COMBINING = /\p{Mark}/u;

/** No line is longer than `width`, as far as ids allow. */
export function renderTextTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  width: number,
): string {
  const columns = head.map((name, i) => [name, ...rows.map((row) => row[i] ?? '')]);
  const widths = fitWidths(columns, width - GAP.length * (head.length - 1));
  if (widths === undefined) return rows.map((row) => renderFields(head, row, width)).join('\n\n');
  const rule = widths.map((columnWidth) => '─'.repeat(columnWidth));
  return [head, rule, ...rows].flatMap((row) => renderRow(row, widths)).join('\n');
}

/** undefined when the columns do not fit. */
function fitWidths(
  columns: readonly (readonly string[])[],
  available: number,
): number[] | undefined {
  const widths = columns.map((texts) => Math.max(...texts.map(widthOf)));
  const least = columns.map((texts, i) => findLeast(texts, widths[i] as number));
  for (let excess = sum(widths) - available; excess > 0; excess -= 1) {
    const [widest] = [...widths.keys()]
      .filter((i) => (widths[i] as number) > (least[i] as number))
      .sort((a, b) => (widths[b] as number) - (widths[a] as number));
    if (widest === undefined) return undefined;
    widths[widest] = (widths[widest] as number) - 1;
  }
  return widths;
}

/** The least width of a column, whose content is `width` wide. */
function findLeast(texts: readonly string[], width: number): number {
  if (texts.some(isUuid)) return width;
  const prefixes = texts.flatMap((text) => text.split(' ')).filter((word) => PREFIX.test(word));
  return Math.max(Math.min(width, MIN_WIDTH), ...prefixes.map(widthOf));
}

function renderRow(row: readonly string[], widths: readonly number[]): string[] {
  const cells = widths.map((width, i) => wrap(row[i] ?? '', width));
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) =>
    cells
      .map((lines, i) => pad(lines[line] ?? '', widths[i] as number))
      .join(GAP)
      .trimEnd(),
  );
}

/** A value is broken only at spaces: an id, a key or a link has to be copied as one. */
export function renderFields(
  names: readonly string[],
  values: readonly string[],
  width: number,
): string {
  const nameWidth = Math.max(...names.map(widthOf)) + GAP.length;
  const lines = names.map((name, i) => {
    const value = values[i] ?? '';
    const longest = Math.max(...value.split(' ').map(widthOf));
    const wrapped = wrap(value, Math.max(longest, width - nameWidth));
    return pad(name, nameWidth) + wrapped.join(`\n${' '.repeat(nameWidth)}`);
  });
  return lines.join('\n');
}

/** The lines of a text: broken at spaces, and inside a word only when the word is too long for a line. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap((part) => split(part, width))) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (widthOf(longer) <= width) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line];
}

function split(word: string, width: number): string[] {
  const pieces: string[] = [];
  let piece = '';
  for (const char of word) {
    if (piece !== '' && widthOf(piece + char) > width) {
      pieces.push(piece);
      piece = '';
    }
    piece += char;
  }
  return [...pieces, piece];
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

/** How many columns of a terminal a text takes. */
function widthOf(text: string): number {
  return sum([...text].map((char) => (COMBINING.test(char) ? 0 : WIDE.test(char) ? 2 : 1)));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
