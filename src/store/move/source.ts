import { randomUUID } from 'node:crypto';
import Database from 'better-sqlite3';
import { Failure } from '../../domain/failure.ts';
import { requireDatabaseFile } from '../engine/sqlite/database-file.ts';
import { waitForLock } from '../engine/sqlite/dialect.ts';
import { openSqlite } from '../engine/sqlite/open.ts';
import { MIGRATIONS } from '../migrations/all.ts';
import { FROZEN, type Marker, parseMarker, toMigration } from './marker.ts';
import type { MovedTable } from './moved-tables.ts';
import { type Batch, type Column, MAX_ROWS, type Stored, takeBatch } from './rows.ts';

/* The SQLite database that is moved. */

/** How long a read waits for a process that opens or closes the file, in milliseconds. */
const READ_TIMEOUT_MS = 10_000;

/** Opens a database for a move. One that was not marked yet is migrated first. */
export async function openSource(path: string): Promise<Database.Database> {
  requireDatabaseFile(path);
  const source = new Database(path, { fileMustExist: true, timeout: READ_TIMEOUT_MS });
  source.pragma('synchronous = FULL');
  if (readMarker(source) === undefined) await (await openSqlite(path)).close();
  requireThisVersion(source);
  return source;
}

/** A database that is frozen cannot be migrated. */
function requireThisVersion(source: Database.Database): void {
  const migrations = listMigrations(source).filter((name) => parseMarker(name) === undefined);
  if (migrations.join() === Object.keys(MIGRATIONS).join()) return;
  source.close();
  throw new Failure(
    'conflict',
    `The move of ${source.name} was begun by another version of Plumbline. Finish it, or give it up, with that one.`,
  );
}

export function readMarker(source: Database.Database): Marker | undefined {
  return listMigrations(source)
    .map(parseMarker)
    .find((marker) => marker !== undefined);
}

/** The migrations that have run on the database, in order. */
function listMigrations(source: Database.Database): string[] {
  const isThere = source.prepare("select 1 from sqlite_schema where name = 'kysely_migration'");
  if (isThere.get() === undefined) return [];
  return source.prepare('select name from kysely_migration order by name').pluck().all() as never;
}

interface Wanted {
  readonly to: string;
  readonly at: string;
}

/**
 * From here on, nothing but this module writes to the database, whichever process has it open and of whichever
 * version: triggers refuse every change. Returns the marker, that of an earlier move that was interrupted when
 * there is one.
 */
export async function freeze(source: Database.Database, wanted: Wanted): Promise<Marker> {
  return await change(source, () => {
    const known = readMarker(source);
    if (known !== undefined) return known;
    const marker: Marker = { state: 'moving', id: randomUUID(), ...wanted };
    for (const trigger of listTriggers(source)) source.exec(trigger.create);
    insertMarker(source, marker);
    return marker;
  });
}

/** Ends the freeze of a move that was not finished. */
export async function thaw(source: Database.Database): Promise<Marker> {
  return await change(source, () => {
    const marker = readMarker(source);
    if (marker?.state !== 'moving')
      throw new Failure('conflict', `The database ${source.name} is not being moved.`);
    for (const trigger of listTriggers(source)) source.exec(trigger.drop);
    deleteMarker(source, marker);
    return marker;
  });
}

/** From here on, no process can open the database. */
export async function markAsMoved(source: Database.Database, marker: Marker): Promise<void> {
  await change(source, () => {
    deleteMarker(source, marker);
    insertMarker(source, { ...marker, state: 'moved' });
  });
}

async function change<T>(source: Database.Database, run: () => T): Promise<T> {
  source.pragma('busy_timeout = 0');
  await waitForLock(() => source.exec('begin immediate'));
  try {
    const result = run();
    source.exec('commit');
    return result;
  } finally {
    if (source.inTransaction) source.exec('rollback');
    source.pragma(`busy_timeout = ${READ_TIMEOUT_MS}`);
  }
}

function insertMarker(source: Database.Database, marker: Marker): void {
  source
    .prepare('insert into kysely_migration (name, timestamp) values (?, ?)')
    .run(toMigration(marker), marker.at);
}

function deleteMarker(source: Database.Database, marker: Marker): void {
  source.prepare('delete from kysely_migration where name = ?').run(toMigration(marker));
}

/** Triggers that refuse every change of every table of the product. */
function listTriggers(source: Database.Database): { create: string; drop: string }[] {
  const tables = source
    .prepare(
      "select name from sqlite_schema where type = 'table' and name not like 'kysely%' and name not like 'sqlite%'",
    )
    .pluck()
    .all() as string[];
  return tables.flatMap((table) =>
    ['insert', 'update', 'delete'].map((verb) => ({
      create: `create trigger moved_${table}_${verb} before ${verb} on ${table} begin select raise(abort, '${FROZEN}'); end`,
      drop: `drop trigger moved_${table}_${verb}`,
    })),
  );
}

const TYPES: Readonly<Record<string, Column['type']>> = {
  text: 'text',
  integer: 'bigint',
  bigint: 'bigint',
  blob: 'bytea',
};

export function listColumns(source: Database.Database, { name: table }: MovedTable): Column[] {
  const columns = source.pragma(`table_info(${table})`) as { name: string; type: string }[];
  return columns.map(({ name, type }) => ({ name, type: toType(`${table}.${name}`, type) }));
}

function toType(column: string, declared: string): Column['type'] {
  const type = TYPES[declared.toLowerCase()];
  if (type === undefined) throw new Error(`The column ${column} has the unknown type ${declared}.`);
  return type;
}

export function countRows(source: Database.Database, { name }: MovedTable): number {
  return source.prepare(`select count(*) from ${name}`).pluck().get() as number;
}

/** The batches of a table, from its beginning or from after a key. */
export function* readBatches(
  source: Database.Database,
  { name, key }: MovedTable,
  after?: readonly Stored[],
): Generator<Batch> {
  const columns = listColumns(source, { name, key }).map((column) => column.name);
  const at = key.map((column) => columns.indexOf(column));
  const toKey = (row: readonly Stored[]) => at.map((index) => row[index] as Stored);
  const read = (from: string) =>
    source
      .prepare(
        `select ${columns.join(', ')} from ${name} ${from} order by ${key.join(', ')} limit ${MAX_ROWS}`,
      )
      .raw()
      .safeIntegers();
  const places = key.map(() => '?').join(', ');
  const fromStart = read('');
  const fromKey = read(`where (${key.join(', ')}) > (${places})`);
  let last = after;
  for (;;) {
    const rows = last === undefined ? fromStart.iterate() : fromKey.iterate(last);
    const batch = takeBatch(rows as Iterable<Stored[]>, toKey);
    if (batch === undefined) return;
    yield batch;
    last = batch.last;
  }
}

/** The largest number that a table has ever given to a row, which may be removed since. */
export function findLargestSeq(
  source: Database.Database,
  { name }: MovedTable,
): number | undefined {
  return source.prepare('select seq from sqlite_sequence where name = ?').pluck().get(name) as
    | number
    | undefined;
}
