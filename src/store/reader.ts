import type Database from 'better-sqlite3';
import type { Kysely } from 'kysely';
import type { Tx } from './heads.ts';
import {
  type BoundQuery,
  type Compile,
  type CompiledText,
  runPrepared,
  toValues,
} from './prepared.ts';
import type { Tables } from './tables.ts';

type Rows<Q extends readonly BoundQuery<unknown>[]> = {
  -readonly [I in keyof Q]: Q[I] extends BoundQuery<infer Row> ? Row[] : never;
};

/** Runs prepared queries. All that are given together see one snapshot of the database. */
export interface Reader {
  read<Q extends readonly BoundQuery<unknown>[]>(...queries: Q): Promise<Rows<Q>>;
}

/**
 * Reads on a connection of its own, so that no read waits for a write, each statement prepared once.
 * In WAL mode a transaction that only reads sees the database as it was at its first statement.
 */
export function createSqliteReader(connection: Database.Database, db: Kysely<Tables>): Reader {
  const statements = new Map<Compile<unknown>, Prepared>();
  const all = ({ compile, params }: BoundQuery<unknown>) => {
    let prepared = statements.get(compile);
    if (prepared === undefined) {
      const text = compile(db);
      prepared = { text, statement: connection.prepare(text.sql) };
      statements.set(compile, prepared);
    }
    return prepared.statement.all(toValues(prepared.text, params));
  };
  const allTogether = connection.transaction((queries: readonly BoundQuery<unknown>[]) =>
    queries.map(all),
  );
  return {
    // One statement is a snapshot by itself.
    read: async <Q extends readonly BoundQuery<unknown>[]>(...queries: Q) =>
      (queries.length === 1 ? queries.map(all) : allTogether(queries)) as Rows<Q>,
  };
}

interface Prepared {
  readonly text: CompiledText<unknown>;
  readonly statement: Database.Statement;
}

/**
 * Reads through Kysely, taking turns with the writes. For a database in memory, which has one
 * connection only.
 */
export function createSharedReader(db: Kysely<Tables>): Reader {
  return {
    read: (...queries) => db.transaction().execute((tx) => toReader(tx).read(...queries)),
  };
}

/** Reads in a transaction that is under way, and so what it has written. */
export function toReader(tx: Tx): Reader {
  return {
    read: async (...queries) => {
      const rows: unknown[] = [];
      for (const query of queries) rows.push(await runPrepared(tx, query));
      return rows as never;
    },
  };
}
