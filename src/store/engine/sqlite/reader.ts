import type Database from 'better-sqlite3';
import type { Kysely } from 'kysely';
import type { Tables } from '../../tables.ts';
import {
  type BoundQuery,
  type Compile,
  type CompiledText,
  runPrepared,
  toValues,
} from '../prepared.ts';
import { createReader, type Plan, type Reader, runPlan, toReader } from '../reader.ts';

/** In WAL mode a transaction that only reads sees the database as it was at its first statement. */
export function createSqliteReader(connection: Database.Database, db: Kysely<Tables>): Reader {
  const statements = new Map<Compile<unknown>, Prepared>();
  const prepare = (compile: Compile<unknown>): Prepared => {
    const text = compile(db);
    const statement = connection.prepare(text.sql).pluck(text.isColumn);
    const prepared = { text, statement };
    statements.set(compile, prepared);
    return prepared;
  };
  const readAll = ({ compile, params }: BoundQuery<unknown>) => {
    const { text, statement } = statements.get(compile) ?? prepare(compile);
    return statement.all(toValues(text, params));
  };
  const readPlan = connection.transaction((plan: () => Plan<unknown>) =>
    runPlan(plan(), (queries) => queries.map(readAll)),
  );
  return createReader({
    readAll: async (query) => readAll(query) as never,
    readPlan: async (plan) => readPlan(plan) as never,
  });
}

interface Prepared {
  readonly text: CompiledText<unknown>;
  readonly statement: Database.Statement;
}

/** Reads through Kysely, in turn with the writes, because a database in memory has one connection only. */
export function createSharedReader(db: Kysely<Tables>): Reader {
  return createReader({
    readAll: (query) => runPrepared(db, query),
    readPlan: (plan) => db.transaction().execute((tx) => toReader(tx).readPlan(plan)),
  });
}
