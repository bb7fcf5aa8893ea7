import Database from 'better-sqlite3';
import pg from 'pg';
import { findParser, SESSION } from '../../src/store/engine/postgres/values.ts';
import { listTables } from '../../src/store/move/from-sqlite.ts';

export interface ComparedTable {
  readonly name: string;
  /** Every row as text, sorted. */
  readonly rows: readonly string[];
  readonly copies: readonly string[];
}

/** Every row of a SQLite database and of its copy. */
export async function compareTables(path: string, url: string): Promise<ComparedTable[]> {
  const source = new Database(path, { readonly: true });
  const client = new pg.Client({
    connectionString: url,
    options: SESSION,
    types: { getTypeParser: findParser as never },
  });
  await client.connect();
  const tables: ComparedTable[] = [];
  for (const name of listTables(source)) {
    const text = `select * from ${name}`;
    const rows = source.prepare(text).safeIntegers().all() as Record<string, unknown>[];
    const copies = (await client.query(text)).rows;
    tables.push({ name, rows: rows.map(toText).sort(), copies: copies.map(toText).sort() });
  }
  await client.end();
  source.close();
  return tables;
}

/** The names of the tables that are not the same. */
export async function listDifferences(path: string, url: string): Promise<string[]> {
  const tables = await compareTables(path, url);
  const differ = ({ rows, copies }: ComparedTable) => rows.join('\n') !== copies.join('\n');
  return tables.filter(differ).map(({ name }) => name);
}

/** Fields are sorted, because columns may be. */
function toText(row: Record<string, unknown>): string {
  const fields = Object.entries(row).map(([name, value]) => [
    name,
    value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value?.toString(),
  ]);
  return JSON.stringify(fields.sort());
}
