import {
  type Compilable,
  type Expression,
  type Kysely,
  PostgresAdapter,
  type RawBuilder,
  type SelectQueryBuilder,
  type SqlBool,
} from 'kysely';
import type { Tables } from '../tables.ts';
import type { Tx } from './database.ts';
import { POSTGRES_WORDS } from './postgres/words.ts';
import { SQLITE_WORDS } from './sqlite/words.ts';

/** A query of one table, whose rows can be locked. */
interface Lockable {
  forNoKeyUpdate(): this;
}

/** The fields of a JSON object, in their order. */
export type JsonFields = Readonly<Record<string, Expression<unknown>>>;

/** What the engines say in different words. Every other statement is the same text for both. */
export interface Words {
  /** A row as JSON text without spaces, with its fields in the given order. */
  readonly jsonRow: (fields: JsonFields) => RawBuilder<string>;
  /**
   * The rows of a query without columns, each as JSON text as `jsonRow` makes it. No JSON is made of rows that
   * the query skips.
   */
  readonly jsonRows: (
    db: Kysely<Tables>,
    query: SelectQueryBuilder<Tables, never, object>,
    fields: JsonFields,
  ) => Compilable<{ readonly item: string }>;
  /** A column that has JSON text, as a part of a `jsonRow`. */
  readonly asJson: (column: Expression<string>) => RawBuilder<unknown>;
  /** Whether a column's text is in a list, a JSON array of texts. Used for an index as `=` is. */
  readonly isIn: (column: Expression<string>, list: Expression<string>) => RawBuilder<SqlBool>;
  /** The database's clock, in milliseconds since 1970. */
  readonly clockMs: RawBuilder<number>;
  /** Locks the rows of a query until the transaction ends, in the query's order. */
  readonly locked: <Query extends Lockable>(query: Query) => Query;
  /**
   * Waits until no other transaction that takes turns by this name is open. For a rule about rows that do not
   * exist yet, which have no lock to take.
   */
  readonly takeTurns: (tx: Tx, name: string) => Promise<void>;
}

/** The words of the engine that a connection, a transaction or a query builder belongs to. */
export function wordsOf(db: Pick<Kysely<Tables>, 'getExecutor'>): Words {
  return db.getExecutor().adapter instanceof PostgresAdapter ? POSTGRES_WORDS : SQLITE_WORDS;
}
