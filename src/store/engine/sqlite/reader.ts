import type Database from 'better-sqlite3';
import type { Kysely } from 'kysely';
import type { Tables } from '../../tables.ts';
import { type Plan, runPlan } from '../plan.ts';
import {
  type BoundQuery,
  type Compile,
  type CompiledText,
  runPrepared,
  toValues,
} from '../prepared.ts';
import { type Reader, toReader } from '../reader.ts';
import { KnownRows } from './known-rows.ts';

/**
 * Reads on a connection of its own, so that no read waits for a write. Each statement is prepared once. In
 * WAL mode a transaction that only reads sees the database as it was at its first statement.
 */
export function createSqliteReader(connection: Database.Database, db: Kysely<Tables>): Reader {
  const statements = new Map<Compile<unknown>, Prepared>();
  const prepare = (compile: Compile<unknown>): Prepared => {
    const known = statements.get(compile);
    if (known !== undefined) return known;
    const text = compile(db);
    const statement = connection.prepare(text.sql).pluck(text.isColumn);
    const prepared = { text, statement };
    statements.set(compile, prepared);
    return prepared;
  };
  const readAll = ({ compile, params }: BoundQuery<unknown>) => {
    const { text, statement } = prepare(compile);
    return statement.all(toValues(text, params));
  };
  const readAllTogether = connection.transaction((queries: readonly BoundQuery<unknown>[]) =>
    queries.map(readAll),
  );
  const readPlanned = connection.transaction((plan: () => Plan<unknown>) =>
    runPlan(plan(), readAll),
  );
  const readFirst = <Row>({ compile, params }: BoundQuery<Row>) => {
    const { text, statement } = prepare(compile);
    return statement.get(toValues(text, params)) as Row | undefined;
  };
  const known = new KnownRows(connection);
  return {
    readFirst: async (query) => readFirst(query),
    readKnown: async (query) => known.find(query) ?? known.keep(query, readFirst(query)),
    noticeChanges: () => known.noticeChanges(),
    readTogether: async (...queries) => readAllTogether(queries) as never,
    readPlan: async (plan) => readPlanned(plan) as never,
    readNoOlder: async (plan) => readPlanned(plan) as never,
    readCopy: async (query) => readAll(query) as never,
  };
}

interface Prepared {
  readonly text: CompiledText<unknown>;
  readonly statement: Database.Statement;
}

/** Reads through Kysely, in turn with the writes. For a database in memory, which has one connection only. */
export function createSharedReader(db: Kysely<Tables>): Reader {
  const readPlan: Reader['readPlan'] = (plan) =>
    db.transaction().execute((tx) => toReader(tx).readPlan(plan));
  const readFirst: Reader['readFirst'] = async (query) => (await runPrepared(db, query))[0];
  return {
    readFirst,
    readKnown: readFirst,
    noticeChanges: () => undefined,
    readTogether: (...queries) =>
      db.transaction().execute((tx) => toReader(tx).readTogether(...queries)),
    readPlan,
    readNoOlder: readPlan,
    readCopy: (query) => runPrepared(db, query),
  };
}
