import { createHash, hash } from 'node:crypto';

/** A value as SQLite stores it: every integer is a bigint, so that none is rounded. */
export type Stored = string | bigint | number | Buffer | null;

/** Consecutive rows of a table, in the order of its key. */
export interface Batch {
  readonly rows: readonly (readonly Stored[])[];
  readonly bytes: number;
  /** The key of the last row. */
  readonly last: readonly Stored[];
}

/** What one transaction copies. A row has at most one mebibyte of original bytes. */
export const MAX_ROWS = 5_000;
const MAX_BYTES = 4 * 1024 * 1024;

/** Takes rows until the batch is large enough; undefined when there are none. `toKey` gives a row's key. */
export function takeBatch(
  rows: Iterable<readonly Stored[]>,
  toKey: (row: readonly Stored[]) => readonly Stored[],
): Batch | undefined {
  const taken: (readonly Stored[])[] = [];
  let bytes = 0;
  for (const row of rows) {
    taken.push(row.map(toStorable));
    for (const value of row) bytes += toSize(value);
    if (bytes >= MAX_BYTES) break;
  }
  const last = taken.at(-1);
  return last === undefined ? undefined : { rows: taken, bytes, last: toKey(last) };
}

/** PostgreSQL has no text with U+0000: the product stores U+FFFD there (connection/postgres/pool.ts). */
function toStorable(value: Stored): Stored {
  return typeof value === 'string' && value.includes('\0')
    ? value.replaceAll('\0', '\uFFFD')
    : value;
}

const INTEGER_BYTES = 8;

function toSize(value: Stored): number {
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : INTEGER_BYTES;
}

/** The SHA-256 of the SHA-256 of each row, which `toChecksumSql` computes in PostgreSQL. */
export function toChecksum(rows: Batch['rows']): string {
  const sum = createHash('sha256');
  for (const row of rows) sum.update(hash('sha256', row.map(toField).join(''), 'buffer'));
  return sum.digest('hex');
}

/** With its length, so that two rows with the same text in other columns differ. */
function toField(value: Stored): string {
  if (value === null) return '-';
  const text = value instanceof Uint8Array ? hash('sha256', value, 'hex') : String(value);
  return `${Buffer.byteLength(text)}:${text}`;
}

/** A column of a table, with its type in PostgreSQL. */
export interface Column {
  readonly name: string;
  readonly type: 'text' | 'bigint' | 'bytea';
}

/** The number of rows and their checksum, as an expression over the rows of a table in the order of its key. */
export function toChecksumSql(columns: readonly Column[], key: readonly string[]): string {
  const row = columns.map(toFieldSql).join(' || ');
  const digests = `string_agg(sha256(convert_to(${row}, 'UTF8')), ''::bytea order by ${key.join(', ')})`;
  return `count(*) as rows, encode(sha256(coalesce(${digests}, ''::bytea)), 'hex') as checksum`;
}

function toFieldSql({ name, type }: Column): string {
  const text = type === 'bytea' ? `encode(sha256(${name}), 'hex')` : `${name}::text`;
  return `coalesce(octet_length(${text}) || ':' || ${text}, '-')`;
}
