import type Database from 'better-sqlite3';
import type { Kysely } from 'kysely';
import { remember } from '../../../domain/remember.ts';
import type { Tables } from '../../tables.ts';
import { type BoundQuery, runPrepared } from '../prepared.ts';
import { createReader, type Plan, type Reader, runPlan, toReader } from '../reader.ts';

type Connected = { readonly db: Kysely<Tables>; readonly connection: Database.Database };

/** In WAL mode a transaction that only reads sees the database as it was at its first statement. */
export function createSqliteReader({ db, connection }: Connected): Reader {
  const prepare = remember((sql: string) => prepareAll(connection, sql));
  const version = connection.prepare('pragma data_version').pluck();
  const findVersion = () => version.get();
  const prepareFirst = remember((sql: string) => keepTrue(prepare(sql)));
  const readAll = (query: BoundQuery<unknown>) => {
    const { sql, parameters } = query(db);
    return prepare(sql)(parameters);
  };
  const readFirst = (query: BoundQuery<unknown>, version: unknown) => {
    const { sql, parameters } = query(db);
    return prepareFirst(sql)(parameters, version);
  };
  const readPlan = connection.transaction((plan: () => Plan<unknown>) =>
    runPlan(plan(), (queries) => queries.map(readAll)),
  );
  const reader = createReader({
    readFirst: async (query) => readFirst(query, findVersion()) as never,
    readAll: async (query) => readAll(query) as never,
    readPlan: async (plan) => readPlan(plan) as never,
    forRequest(this: Reader) {
      let version: unknown;
      const readFirstOf = async (query: BoundQuery<unknown>) => {
        version ??= findVersion();
        return readFirst(query, version) as never;
      };
      return { ...this, readFirst: readFirstOf, madeBy: this };
    },
  });
  return reader;
}

type Read = (parameters: unknown[]) => unknown[];

/** Rows of one statement that are kept; they are forgotten together. */
const MAX_KEPT = 1_000;

/**
 * Rows stay true while no other connection, of this process or another, has committed: SQLite tells so by `data_version`, which
 * costs a quarter of the time of these reads. The version is read before the rows: what was committed in between is in them,
 * and makes the next version another one.
 */
function keepTrue(read: Read) {
  const kept = new Map<string, unknown[]>();
  let keptVersion: unknown;
  return (parameters: unknown[], version: unknown) => {
    if (version !== keptVersion || kept.size >= MAX_KEPT) kept.clear();
    keptVersion = version;
    const key = toKey(parameters);
    const known = kept.get(key);
    if (known !== undefined) return known;
    const rows = read(parameters);
    kept.set(key, rows);
    return rows;
  };
}

/** Most have one parameter, which has the same type each time. */
function toKey(parameters: unknown[]): string {
  const [only] = parameters;
  return parameters.length === 1 && typeof only === 'string'
    ? only
    : JSON.stringify(parameters.map(toText));
}

/** As JSON, the bytes of a hash would be 32 names and numbers. */
const toText = (value: unknown) =>
  value instanceof Uint8Array
    ? Buffer.from(value.buffer, value.byteOffset, value.length).toString('latin1')
    : value;

/** An object that the driver makes costs ten times as much as one that is made here: rows of lists have one column. */
function prepareAll(connection: Database.Database, sql: string): Read {
  const statement = connection.prepare<unknown[]>(sql);
  const [column, ...others] = statement.columns().map(({ name }) => name);
  if (column === undefined || others.length > 0)
    return (parameters: unknown[]) => statement.all(parameters);
  const values = statement.pluck();
  return (parameters: unknown[]) => values.all(parameters).map((value) => ({ [column]: value }));
}

/** Reads through Kysely, in turn with the writes, because a database in memory has one connection only. */
export function createSharedReader(db: Kysely<Tables>): Reader {
  return createReader({
    readAll: (query) => runPrepared(db, query),
    readPlan: (plan) => db.transaction().execute((tx) => toReader(tx).readPlan(plan)),
  });
}
