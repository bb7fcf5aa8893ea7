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
  const readAll = (query: BoundQuery<unknown>) => {
    const { sql, parameters } = query(db);
    return prepare(sql)(parameters);
  };
  const readPlan = connection.transaction((plan: () => Plan<unknown>) =>
    runPlan(plan(), (queries) => queries.map(readAll)),
  );
  return createReader({
    readAll: async (query) => readAll(query) as never,
    readPlan: async (plan) => readPlan(plan) as never,
  });
}

/** An object that the driver makes costs ten times as much as one that is made here: rows of lists have one column. */
function prepareAll(connection: Database.Database, sql: string) {
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
