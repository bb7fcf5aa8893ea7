import type pg from 'pg';
import { MOVE_URL } from '../engine/postgres/errors.ts';
import { openPostgres } from '../engine/postgres/open.ts';
import { createPool } from '../engine/postgres/pool.ts';

/**
 * Makes the tables, and fills them in one transaction without time limits: an interrupted move leaves no rows. Throws
 * when the database is that of another program, or its server is too old.
 */
export async function fillInTransaction<T>(
  url: string,
  password: (() => string) | undefined,
  fill: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const options = { password, variable: MOVE_URL, maxConnections: 2 };
  await (await openPostgres(url, options)).close();
  const times = { timeoutMs: 0, connectTimeoutMs: 5_000 };
  const pool = createPool(url, { password, maxConnections: 1, ...times });
  try {
    const client = await pool.connect();
    // The pool does not listen while the connection is in use; the query under way fails.
    client.on('error', () => {});
    try {
      await client.query('begin');
      await client.query('set local idle_in_transaction_session_timeout = 0');
      const result = await fill(client);
      await client.query('commit');
      return result;
    } finally {
      // Closes the connection, which rolls back what was not committed.
      client.release(true);
    }
  } finally {
    await pool.end();
  }
}

/** Until the transaction ends, no other process reads or writes the tables. Returns whether they have no rows. */
export async function lockTables(client: pg.PoolClient, tables: readonly string[]) {
  await client.query(`lock table ${tables} in access exclusive mode`);
  const anyRow = tables.map((table) => `exists (select from ${table})`).join(' or ');
  const { rows } = await client.query(`select ${anyRow} as has_rows`);
  return rows[0].has_rows === false;
}

export async function listColumns(client: pg.PoolClient, table: string): Promise<string[]> {
  const { fields } = await client.query(`select * from ${table} limit 0`);
  return fields.map(({ name }) => name);
}

export async function insertRows(client: pg.PoolClient, table: string, rows: readonly string[]) {
  await client.query(
    `insert into ${table} select * from json_populate_recordset(null::${table}, $1)`,
    [`[${rows}]`],
  );
}

/** The number of rows, and the sum of the first eight bytes of each row's SHA-256. */
export type TableContent = { readonly rows: number; readonly checksum: bigint };

/**
 * Makes the table's statistics first, which the server needs to check references to it. Instants end with `Z` in
 * SQLite; a text that ends like one of PostgreSQL's is changed too, and `toComparable` changes it on the other side.
 */
export async function readContent(client: pg.PoolClient, table: string): Promise<TableContent> {
  await client.query(`analyze ${table}`);
  const json = `replace(row_to_json(r)::text, '+00:00"', 'Z"')`;
  const sha256 = `sha256(convert_to(${json}, 'UTF8'))`;
  const { rows } = await client.query(`
    select count(*) as rows,
      coalesce(sum(('x' || encode(substr(${sha256}, 1, 8), 'hex'))::bit(64)::bigint), 0)::text as checksum
    from ${table} r`);
  return { rows: rows[0].rows, checksum: BigInt(rows[0].checksum) };
}

/** A row's JSON of SQLite in the form that `readContent` compares. */
export function toComparable(json: string): string {
  return json.replaceAll('+00:00"', 'Z"');
}

/** Rows that are added later get larger numbers than all rows ever had. */
export async function setSequence(
  client: pg.PoolClient,
  { table, largest }: { readonly table: string; readonly largest: number },
): Promise<void> {
  await client.query("select setval(pg_get_serial_sequence($1, 'seq'), $2)", [table, largest]);
}
