import type Database from 'better-sqlite3';
import type { Kysely } from 'kysely';
import type { Tables } from '../../tables.ts';
import { type BoundQuery, runPrepared } from '../prepared.ts';
import { createReader, type Plan, type Reader, runPlan, toReader } from '../reader.ts';
import { rememberStatements } from './connect.ts';

/** In WAL mode a transaction that only reads sees the database as it was at its first statement. */
export function createSqliteReader(connection: Database.Database, db: Kysely<Tables>): Reader {
  const prepare = rememberStatements(connection);
  const readAll = (query: BoundQuery<unknown>) => {
    const { sql, parameters } = query(db);
    return prepare(sql).all(parameters);
  };
  const readPlan = connection.transaction((plan: () => Plan<unknown>) =>
    runPlan(plan(), (queries) => queries.map(readAll)),
  );
  return createReader({
    readAll: async (query) => readAll(query) as never,
    readPlan: async (plan) => readPlan(plan) as never,
  });
}

/** Reads through Kysely, in turn with the writes, because a database in memory has one connection only. */
export function createSharedReader(db: Kysely<Tables>): Reader {
  return createReader({
    readAll: (query) => runPrepared(db, query),
    readPlan: (plan) => db.transaction().execute((tx) => toReader(tx).readPlan(plan)),
  });
}
