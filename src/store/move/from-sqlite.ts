import Database from 'better-sqlite3';
import { requireDatabaseFile } from '../engine/sqlite/database-file.ts';
import { takeAlone } from '../engine/sqlite/migrate.ts';
import { openSqlite } from '../engine/sqlite/open.ts';

/** Opens a database that must exist, without migrating it. */
export function openUnmigrated(path: string): Database.Database {
  requireDatabaseFile(path);
  const sqlite = new Database(path, { fileMustExist: true });
  sqlite.pragma('synchronous = FULL');
  return sqlite;
}

/** Opens and migrates a database. Until this process ends, no other can read, write or open it. */
export async function openAlone(path: string): Promise<Database.Database> {
  await (await openSqlite(path, { mustExist: true })).close();
  const sqlite = openUnmigrated(path);
  try {
    takeAlone(sqlite);
    return sqlite;
  } catch (error) {
    sqlite.close();
    throw error;
  }
}

/** Leases stay behind: they belong to processes of the old database. A table that refers to others was made after them. */
const TABLES = `
  select name from sqlite_schema
  where type = 'table' and name not like 'sqlite%' and name not like 'kysely%' and name <> 'lease'
  order by rowid`;

export function listTables(sqlite: Database.Database): string[] {
  return sqlite.prepare(TABLES).pluck().all() as string[];
}

export function countRows(sqlite: Database.Database, tables: readonly string[]): number {
  const count = (table: string) => sqlite.prepare(`select count(*) from ${table}`).pluck().get();
  return tables.reduce((rows, table) => rows + (count(table) as number), 0);
}

/** Rows, or characters, of one statement. A row has at most one mebibyte of original bytes. */
const MAX_ROWS = 5_000;
const MAX_LENGTH = 4 * 1024 * 1024;

/** Batches of rows. A row is a JSON object with the columns in order, as PostgreSQL writes it. */
export function* readBatches(
  sqlite: Database.Database,
  table: string,
  columns: readonly string[],
): Generator<string[]> {
  const rows = sqlite.prepare(`select ${columns} from ${table}`).raw().safeIntegers().iterate();
  let batch: string[] = [];
  let length = 0;
  for (const row of rows as Iterable<readonly unknown[]>) {
    const json = `{${row.map((value, i) => `"${columns[i]}":${toJson(value)}`)}}`;
    batch.push(json);
    length += json.length;
    if (batch.length < MAX_ROWS && length < MAX_LENGTH) continue;
    yield batch;
    batch = [];
    length = 0;
  }
  if (batch.length > 0) yield batch;
}

/** PostgreSQL has no text with U+0000: the product stores U+FFFD there (engine/postgres/pool.ts). */
function toJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Uint8Array) return `"\\\\x${Buffer.from(value).toString('hex')}"`;
  return JSON.stringify(typeof value === 'string' ? value.replaceAll('\0', '\uFFFD') : value);
}

/** The largest number that each table has ever given to a row, which may be removed since. */
export function listSequences(sqlite: Database.Database): { table: string; largest: number }[] {
  const sequences = 'select name as "table", seq as largest from sqlite_sequence where seq > 0';
  return sqlite.prepare(sequences).all() as { table: string; largest: number }[];
}
