import { toSafeJson, toSafeLines, toSafeText } from './safe-text.ts';
import { renderFields, renderTable, wrap } from './table.ts';

export interface OutputOptions {
  readonly json?: boolean;
  /** Without hints and progress. */
  readonly quiet?: boolean;
}

type Row = Readonly<Record<string, unknown>>;

/** Prints a command's result: as one JSON value, or for people. */
export function printOne(row: Row, { json }: OutputOptions): void {
  if (json) printJson(row);
  else print(renderFields(Object.keys(row), Object.values(row).map(toText), getWidth()));
}

interface List<T> {
  /** What is printed for an empty list. */
  readonly none: string;
  /** The columns of the table, which has to fit a terminal. Without it, those of the JSON objects. */
  readonly toColumns?: (row: T) => Row;
}

/** Prints a list: as one JSON array, or as a table. */
export function printList<T extends Row>(
  rows: readonly T[],
  { none, toColumns = (row) => row }: List<T>,
  { json }: OutputOptions,
): void {
  if (json) printJson(rows);
  else print(rows.length === 0 ? none : renderRows(rows.map(toColumns)));
}

export function printJson(value: unknown): void {
  print(toSafeJson(value));
}

export function print(line: string): void {
  process.stdout.write(`${toSafeLines(line)}\n`);
}

/** Prints sentences, each wrapped to the width of the terminal. */
export function printText(sentences: readonly string[]): void {
  print(sentences.flatMap((sentence) => wrap(sentence, getWidth())).join('\n'));
}

/** Prints an error or a warning to standard error. */
export function tell(line: string): void {
  process.stderr.write(`${toSafeLines(line)}\n`);
}

/** Prints to standard error what a person may want to know, unless only errors are wanted. */
export function hint(line: string, { quiet }: OutputOptions): void {
  if (!quiet) tell(line);
}

/** A table as wide as the terminal. */
export function renderRows(rows: readonly Row[]): string {
  const head = Object.keys(rows[0] ?? {});
  const cells = rows.map((row) => Object.values(row).map(toText));
  return renderTable(head, cells, getWidth());
}

/** A pipe or a file has no width: a program such as `grep` or `cut` needs whole lines. */
function getWidth(): number {
  return process.stdout.columns || Number(process.env['COLUMNS']) || Number.POSITIVE_INFINITY;
}

function toText(value: unknown): string {
  if (value === null) return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return toSafeText(String(value));
}
