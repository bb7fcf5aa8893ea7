import { Readable } from 'node:stream';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { stringify } from 'csv-stringify/sync';
import type { Response } from 'express';
import { html } from 'hono/html';
import { Failure } from '../../domain/failure.ts';
import { sendDownload } from './download.ts';
import type { Html } from './text.ts';

/** null is an empty cell. */
export type Cell = string | number | null;

interface CsvFile {
  /** The name has no ending. */
  readonly fileName: string;
  readonly heads: readonly string[];
  /** How many rows there are at most; who asks for too many chooses fewer days. */
  readonly count: number;
  /** Is asked for the next row when the client has taken those before it. */
  readonly rows: AsyncIterable<readonly Cell[]> | Iterable<readonly Cell[]>;
}

/** More are refused, not cut (decision 126). */
export const MAX_ROWS = 100_000;

/** Sends a CSV file (RFC 4180) in bounded memory. Without the byte order mark Excel does not read UTF-8. */
export async function sendCsv(res: Response, file: CsvFile): Promise<void> {
  const { fileName, heads, count, rows } = file;
  if (count > MAX_ROWS) throw new Failure('validation_error', `Choose fewer days: ${LIMIT}.`);
  await sendDownload(res, {
    fileName: `${fileName}.csv`,
    type: 'text/csv; charset=utf-8; header=present',
    streams: [Readable.from(toTexts(heads, rows))],
  });
}

/** Rows that are sent as one piece: a piece for each takes twice the time, and a hundred megabytes. */
const ROWS_AT_ONCE = 200;

async function* toTexts(heads: readonly string[], rows: CsvFile['rows']) {
  yield stringify([[...heads]], { ...LAYOUT, bom: true });
  let some: (readonly Cell[])[] = [];
  for await (const row of rows) {
    if (some.push(row) < ROWS_AT_ONCE) continue;
    yield stringify(some, LAYOUT);
    some = [];
    await yieldToOthers();
  }
  yield stringify(some, LAYOUT);
}

/**
 * A cell whose first character would make a spreadsheet calculate it begins with an apostrophe instead. By default
 * csv-stringify quotes no cell with a line end of another kind than the file's.
 */
const LAYOUT = {
  ...{ record_delimiter: '\r\n', escape_formulas: true, quoted_match: /[\r\n]/ },
  cast: { string: (cell: string) => (HIDDEN.test(cell) ? `'${cell}` : cell) },
};

/** What spreadsheets skip, and after it what begins a formula. csv-stringify looks at the first character alone. */
const HIDDEN = /^[\s\p{Cc}\p{Cf}\p{DI}]+[=+\-@＝＋－＠]/u;

const LIMIT = `a file has ${MAX_ROWS.toLocaleString('en')} rows at most`;

/** The link to a list as a file, or why there is none. */
export function renderExport(path: string, count: number): Html {
  return count > MAX_ROWS
    ? html`<span class="muted">Choose fewer days to export them: ${LIMIT}</span>`
    : html`<a href="${path}" download>Export as CSV</a>`;
}
