import Table from 'cli-table3';
import { toSafeJson, toSafeLines, toSafeText } from './safe-text.ts';

export interface OutputOptions {
  readonly json?: boolean;
}

type Row = Readonly<Record<string, unknown>>;

/** Prints a command's result: as one JSON value, or for people. */
export function printOne(row: Row, { json }: OutputOptions): void {
  if (json) printJson(row);
  else print(renderFields(row));
}

/** Prints a list: as one JSON array, or as a table. `none` is printed for an empty list. */
export function printList(rows: readonly Row[], none: string, { json }: OutputOptions): void {
  if (json) printJson(rows);
  else print(renderRows(rows, none));
}

export function printJson(value: unknown): void {
  print(toSafeJson(value));
}

export function print(line: string): void {
  process.stdout.write(`${toSafeLines(line)}\n`);
}

/** Prints a message to standard error, for people: progress, hints, errors. */
export function tell(line: string): void {
  process.stderr.write(`${toSafeLines(line)}\n`);
}

export function renderTable(
  head: readonly string[],
  rows: readonly (readonly unknown[])[],
): string {
  const table = new Table({ head: [...head], style: { head: [], border: [] } });
  table.push(...rows.map((row) => row.map(toText)));
  return table.toString();
}

function renderFields(row: Row): string {
  const width = Math.max(...Object.keys(row).map((name) => name.length));
  return Object.entries(row)
    .map(([name, value]) => `${name.padEnd(width)}  ${toText(value)}`)
    .join('\n');
}

function renderRows(rows: readonly Row[], none: string): string {
  const [first] = rows;
  return first === undefined ? none : renderTable(Object.keys(first), rows.map(Object.values));
}

function toText(value: unknown): string {
  if (value === null) return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return toSafeText(String(value));
}
