import type pg from 'pg';
import { toShownUrl } from '../../domain/database-address.ts';
import { Failure } from '../../domain/failure.ts';
import { openPostgres } from '../engine/postgres/open.ts';
import { createPool } from '../engine/postgres/pool.ts';
import { findUnfinished, toTargetMigration } from './marker.ts';
import { MOVED_TABLES, type MovedTable } from './moved-tables.ts';
import { type Batch, type Column, type Stored, toChecksumSql } from './rows.ts';

/* The PostgreSQL database that a move fills. */

export interface Target {
  readonly url: string;
  readonly client: pg.PoolClient;
  readonly close: () => Promise<void>;
}

export type Password = (() => string) | undefined;

/** Connects. A statement may take any time: copying and comparing are bounded in rows. */
export async function openTarget(url: string, password: Password): Promise<Target> {
  const options = {
    password,
    maxConnections: 1,
    timeoutMs: 0,
    connectTimeoutMs: 5_000,
    warn: () => {},
  };
  const pool = createPool(url, options);
  try {
    const client = await pool.connect();
    // The pool does not listen while the connection is in use; the query under way fails.
    client.on('error', () => {});
    return { url, client, close: () => closeAll(client, pool) };
  } catch (error) {
    await pool.end();
    throw error;
  }
}

async function closeAll(client: pg.PoolClient, pool: pg.Pool): Promise<void> {
  client.release(true);
  await pool.end();
}

/** What a database is for the move with an id. */
export type TargetState = 'empty' | 'own' | 'other move' | 'in use';

export async function findState(target: Target, id: string | undefined): Promise<TargetState> {
  const migrations = await listMigrations(target);
  const unfinished = findUnfinished(migrations);
  if (unfinished !== undefined) return unfinished === id ? 'own' : 'other move';
  if (migrations.length === 0) return 'empty';
  for (const { name } of MOVED_TABLES) {
    const { rows } = await target.client.query(`select 1 from ${name} limit 1`);
    if (rows.length > 0) return 'in use';
  }
  return 'empty';
}

async function listMigrations({ client }: Target): Promise<string[]> {
  const table = await client.query("select to_regclass('kysely_migration') is not null as exists");
  if (table.rows[0].exists !== true) return [];
  const { rows } = await client.query('select name from kysely_migration');
  return rows.map(({ name }) => name);
}

const PROGRESS = 'unfinished_move';

/** Makes the tables. Throws when the database is that of another program, or its server is too old. */
export async function createTables({ url }: Target, password: Password): Promise<void> {
  await (await openPostgres(url, { password, maxConnections: 2 })).close();
}

/** Marks a database without rows as the target of a move: no server opens it. */
export async function markTarget(
  target: Target,
  { id, at }: { readonly id: string; readonly at: string },
): Promise<void> {
  await inTransaction(target, async () => {
    const { client } = target;
    await client.query(
      'insert into kysely_migration (name, timestamp) values ($1, $2) on conflict do nothing',
      [toTargetMigration(id), at],
    );
    await client.query(
      `create table if not exists ${PROGRESS} (name text primary key, rows bigint not null, last text)`,
    );
    for (const { name } of MOVED_TABLES)
      await client.query(`insert into ${PROGRESS} values ($1, 0, null) on conflict do nothing`, [
        name,
      ]);
  });
}

/** How much of a table was copied: the number of rows, and the key of the last one. */
export interface Copied {
  readonly rows: number;
  readonly last: readonly Stored[] | undefined;
}

export async function readCopied({ client }: Target, { name }: MovedTable): Promise<Copied> {
  const { rows } = await client.query(`select rows, last from ${PROGRESS} where name = $1`, [name]);
  if (rows[0] === undefined)
    throw new Failure(
      'conflict',
      `The move was begun by another version of Plumbline, which did not know the table ${name}.`,
    );
  const { last } = rows[0];
  return { rows: rows[0].rows, last: last === null ? undefined : fromText(last) };
}

/** Keys are stored as JSON. A number is a `bigint` in a batch. */
function toText(key: readonly Stored[]): string {
  return JSON.stringify(key.map((value) => (typeof value === 'bigint' ? Number(value) : value)));
}

function fromText(text: string): Stored[] {
  return JSON.parse(text).map((value: string | number) =>
    typeof value === 'number' ? BigInt(value) : value,
  );
}

/**
 * Adds a batch and notes how far the table is, in one transaction. Nothing waits for its commit: when the server
 * loses the newest batches, it loses their notes too.
 */
export async function insertBatch(
  target: Target,
  { table, columns, batch, before }: Insertion,
): Promise<Copied> {
  const copied = { rows: before.rows + batch.rows.length, last: batch.last };
  await inTransaction(target, async ({ client }) => {
    await client.query('set local synchronous_commit = off');
    const noted = await client.query(
      `update ${PROGRESS} set rows = $1, last = $2 where name = $3 and rows = $4`,
      [copied.rows, toText(copied.last), table.name, before.rows],
    );
    if (noted.rowCount !== 1)
      throw new Failure('conflict', 'Another process is moving the same database.');
    await client.query(toInsertSql(table, columns), toArrays(batch, columns.length));
  });
  return copied;
}

interface Insertion {
  readonly table: MovedTable;
  readonly columns: readonly Column[];
  readonly batch: Batch;
  readonly before: Copied;
}

/** One statement for any number of rows: each parameter is a column. */
function toInsertSql({ name }: MovedTable, columns: readonly Column[]): string {
  const arrays = columns.map(({ type }, i) => `$${i + 1}::${type}[]`);
  const names = columns.map((column) => column.name);
  return `insert into ${name} (${names.join(', ')}) select * from unnest(${arrays.join(', ')})`;
}

function toArrays({ rows }: Batch, columns: number): Stored[][] {
  return Array.from({ length: columns }, (_, i) => rows.map((row) => row[i] as Stored));
}

/** A part of a table: the rows after one key, up to another one. */
export interface Range {
  readonly after: readonly Stored[] | undefined;
  readonly upTo: readonly Stored[] | undefined;
}

export interface Sum {
  readonly rows: number;
  readonly checksum: string;
}

/** The number and the checksum of the rows in a part of a table. */
export async function readSum(
  { client }: Target,
  { name, key }: MovedTable,
  { columns, after, upTo }: Range & { readonly columns: readonly Column[] },
): Promise<Sum> {
  const values: Stored[] = [];
  const toPlaces = (given: readonly Stored[]) =>
    given.map((value) => `$${values.push(value)}`).join(', ');
  const conditions = [
    after && `(${key.join(', ')}) > (${toPlaces(after)})`,
    upTo && `(${key.join(', ')}) <= (${toPlaces(upTo)})`,
  ].filter((condition) => condition !== undefined);
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
  const { rows } = await client.query(
    `select ${toChecksumSql(columns, key)} from ${name} ${where}`,
    values,
  );
  return rows[0] as Sum;
}

/** Rows that are added later get larger numbers than all rows ever had. */
export async function setSequence(
  { client }: Target,
  { name }: MovedTable,
  largest: number,
): Promise<void> {
  await client.query("select setval(pg_get_serial_sequence($1, 'seq'), $2)", [name, largest]);
}

/** Gives the server its statistics of the new rows. Without them it would choose slow plans at first. */
export async function analyze({ client }: Target): Promise<void> {
  for (const { name } of MOVED_TABLES) await client.query(`analyze ${name}`);
}

/** From here on, servers open the database. */
export async function finishTarget(target: Target, id: string): Promise<void> {
  await inTransaction(target, async ({ client }) => {
    await client.query(`drop table ${PROGRESS}`);
    await client.query('delete from kysely_migration where name = $1', [toTargetMigration(id)]);
  });
}

async function inTransaction(
  target: Target,
  run: (target: Target) => Promise<void>,
): Promise<void> {
  const { client } = target;
  await client.query('begin');
  try {
    await run(target);
    await client.query('commit');
  } catch (error) {
    // A lost connection cannot roll back, and need not.
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

export function toRefusal({ url }: Target, state: TargetState): Failure {
  const shown = toShownUrl(url);
  return state === 'other move'
    ? new Failure('conflict', `The database ${shown} is the target of another move.`)
    : new Failure('conflict', `The database ${shown} is not empty: a move fills an empty one.`);
}
