import type { Logger } from 'pino';
import { Failure } from '../../domain/failure.ts';
import type { Instant } from '../../domain/instant.ts';
import { toSafeJson, toSafeLines, toTerminalText } from './safe-text.ts';
import { renderFields, renderTextTable, wrap } from './table.ts';

export interface OutputOptions {
  readonly json?: boolean;
  /** Leaves out hints and progress. */
  readonly quiet?: boolean;
}

/** The options of a command with switches, such as `--dry-run`. */
export type Flags<Name extends string> = OutputOptions & { readonly [N in Name]?: boolean };

export function printOne(row: object, { json }: OutputOptions): void {
  if (json) printJson(row);
  else print(renderFields(Object.keys(row), Object.values(row).map(toText), getWidth()));
}

/** `toColumns` gives the columns of the table, which has to fit a terminal; else it has those of the JSON objects. */
export function printList<T extends object>(
  rows: readonly T[],
  { none, toColumns = (row) => row }: { none: string; toColumns?: (row: T) => object },
  { json }: OutputOptions,
): void {
  if (json) printJson(rows);
  else print(rows.length === 0 ? none : renderRows(rows.map(toColumns)));
}

/** Prints `text` for people: a string as it is, sentences wrapped to the terminal. */
export function printResult(
  value: unknown,
  text: string | readonly string[],
  { json }: OutputOptions,
): void {
  if (json) printJson(value);
  else if (typeof text === 'string') print(text);
  else printText(text);
}

export function printJson(value: unknown): void {
  print(toSafeJson(value));
}

export function print(line: string): void {
  process.stdout.write(`${toSafeLines(line)}\n`);
}

export function printText(sentences: readonly string[]): void {
  print(sentences.flatMap((sentence) => wrap(sentence, getWidth())).join('\n'));
}

/** Writes the original bytes of an input to standard output, but never to a terminal. */
export async function printBytes(read: () => Promise<Uint8Array>): Promise<void> {
  if (process.stdout.isTTY)
    throw new Failure(
      'validation_error',
      'The original is not written to a terminal: redirect standard output to a file.',
    );
  const bytes = await read();
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

/** The log of a process that serves. */
let log: Logger | undefined;

/** Where the log is JSON, what is told from now on is a line of it. */
export function tellInLog(given: Logger): void {
  if (!process.stderr.isTTY && given.level !== 'silent') log = given;
}

/** Prints an error or a warning to standard error. */
export function tell(line: string): void {
  if (log === undefined) process.stderr.write(`${toSafeLines(line)}\n`);
  else log.fatal(line);
}

/** Prints to standard error what a person may want to know, unless only errors are wanted. */
export function hint(line: string, { quiet }: OutputOptions): void {
  if (!quiet) tell(line);
}

/** After much was deleted: by how many bytes the file of SQLite is smaller. PostgreSQL has no such file. */
export function tellOfSpace(fileBytes: number, options: OutputOptions): void {
  if (fileBytes === 0) return;
  hint(`The file is ${toMb(fileBytes)} smaller. What is free in it is used again.`, options);
}

export function toMb(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 1 : 0)} MB`;
}

export function renderRows(rows: readonly object[]): string {
  const head = Object.keys(rows[0] ?? {});
  const cells = rows.map((row) => Object.values(row).map(toText));
  return renderTextTable(head, cells, getWidth());
}

/** A pipe or a file has no width: a program such as `grep` or `cut` needs whole lines. */
function getWidth(): number {
  return process.stdout.columns || Number(process.env['COLUMNS']) || Number.POSITIVE_INFINITY;
}

/** `2026-03-15 04:12` for a table. JSON has the whole instant. */
export function toShortTime(at: Instant | null): string | null {
  return at === null ? null : at.slice(0, 16).replace('T', ' ');
}

export function toDayText(at: Instant | null): string | null {
  return at === null ? null : at.slice(0, 10);
}

function toText(value: unknown): string {
  if (value === null) return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return toTerminalText(String(value));
}
