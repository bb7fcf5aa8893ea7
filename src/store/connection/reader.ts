import type Database from 'better-sqlite3';
import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';
import type { Tx } from './database.ts';
import { type Plan, runPlan, runPlanAsync } from './plan.ts';
import {
  type BoundQuery,
  type Compile,
  type CompiledText,
  runPrepared,
  toValues,
} from './prepared.ts';

type Rows<Q extends readonly BoundQuery<unknown>[]> = {
  -readonly [I in keyof Q]: Q[I] extends BoundQuery<infer Row> ? Row[] : never;
};

/** Runs prepared queries. */
export interface Reader {
  /** The first row, undefined when there is none. */
  readFirst<Row>(query: BoundQuery<Row>): Promise<Row | undefined>;
  /** The rows of each query, all from one snapshot of the database. */
  readTogether<Q extends readonly BoundQuery<unknown>[]>(...queries: Q): Promise<Rows<Q>>;
  /** The result of a plan, all of whose queries read one snapshot of the database. */
  readPlan<Result>(plan: () => Plan<Result>): Promise<Result>;
}

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
  return {
    readFirst: async <Row>({ compile, params }: BoundQuery<Row>) => {
      const { text, statement } = prepare(compile);
      return statement.get(toValues(text, params)) as Row | undefined;
    },
    readTogether: async (...queries) => readAllTogether(queries) as never,
    readPlan: async (plan) => readPlanned(plan) as never,
  };
}

interface Prepared {
  readonly text: CompiledText<unknown>;
  readonly statement: Database.Statement;
}

/** Reads through Kysely, in turn with the writes. For a database in memory, which has one connection only. */
export function createSharedReader(db: Kysely<Tables>): Reader {
  return {
    readFirst: async (query) => (await runPrepared(db, query))[0],
    readTogether: (...queries) =>
      db.transaction().execute((tx) => toReader(tx).readTogether(...queries)),
    readPlan: (plan) => db.transaction().execute((tx) => toReader(tx).readPlan(plan)),
  };
}

/** Reads in an open transaction, including what it has written. */
export function toReader(tx: Tx): Reader {
  return {
    readFirst: async (query) => (await runPrepared(tx, query))[0],
    readTogether: async (...queries) => {
      const rows: unknown[] = [];
      for (const query of queries) rows.push(await runPrepared(tx, query));
      return rows as never;
    },
    readPlan: (plan) => runPlanAsync(plan(), (query) => runPrepared(tx, query)),
  };
}
