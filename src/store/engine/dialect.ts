import {
  type CompiledQuery,
  type DatabaseConnection,
  type DialectAdapter,
  type Expression,
  type Kysely,
  type QueryResult,
  type RawBuilder,
  type SqlBool,
  sql,
} from 'kysely';
import type { Instant } from '../../domain/instant.ts';
import type { Tables } from '../tables.ts';
import type { Tx } from './database.ts';

interface Lockable {
  forNoKeyUpdate(): this;
}

export type JsonFields = Readonly<Record<string, Expression<unknown>>>;

/** The JSON text of a value of type `T`, as the database wrote it. */
export type JsonText<T> = string & { readonly json?: T };

export interface JsonItem<T> {
  readonly item: JsonText<T>;
}

/** A row with these fields. A list derives its item's type from them, so the type has every field that is sent. */
export type JsonRow<Fields> = {
  readonly [K in keyof Fields]: Fields[K] extends Expression<infer Value> ? Value : never;
};

/** PostgreSQL's names of types. SQLite compares what it has stored. */
export type ColumnType = 'bigint' | 'bytea' | 'date' | 'inet' | 'text' | 'timestamptz' | 'uuid';

/** What the engines say differently in SQL. Every other statement is the same text for both. */
export interface Dialect {
  /** Whether reports are on several servers (decision 134). Only statements that Citus refuses ask. */
  readonly isDivided: boolean;
  /**
   * A row as JSON text without spaces, with its fields in the given order. A list reads it as the only column: handing
   * over one text costs a quarter less than handing over eight columns and making the same text of them.
   */
  readonly jsonRow: <F extends JsonFields>(fields: F) => RawBuilder<JsonText<JsonRow<F>>>;
  /** Selects each row as `jsonRow` makes it, of a query from `from` on. No JSON is made of skipped rows. */
  readonly jsonRows: <F extends JsonFields>(
    fields: F,
    from: RawBuilder<unknown>,
  ) => RawBuilder<JsonItem<JsonRow<F>>>;
  /** A column that has JSON text, as a part of a `jsonRow`. */
  readonly asJson: <T>(column: Expression<string>) => RawBuilder<T>;
  /** A column that has an instant, as a part of a `jsonRow`. */
  readonly asInstant: <T extends Instant | null>(column: Expression<T>) => RawBuilder<T>;
  /**
   * Whether a column of this type is in a list, a JSON array of texts or numbers. Uses an index as `=` does. A prepared query takes a
   * list this way, so that its text is the same for every length; a query that is built each time uses `in` with an
   * array.
   */
  readonly isIn: (
    column: Expression<string>,
    list: Expression<string>,
    type: ColumnType,
  ) => RawBuilder<SqlBool>;
  /** A value where nothing else says its type: PostgreSQL would take it for text. */
  readonly typed: <T>(value: Expression<T>, type: ColumnType) => RawBuilder<T>;
  /** The database's clock, in milliseconds since 1970. */
  readonly clockMs: RawBuilder<number>;
  /** Locks the rows of a query until the transaction ends, in the query's order. */
  readonly locked: <Query extends Lockable>(query: Query) => Query;
  /** Waits for a named lock, and holds it until the transaction ends. For a rule about rows that do not exist yet. */
  readonly lockName: (tx: Tx, name: string) => Promise<void>;
  /**
   * Gives at most so many unused pages of the database's file back, unless few are unused, and returns their bytes.
   * PostgreSQL does so by itself, or never.
   */
  readonly giveBackPages: (tx: Tx, max: number) => Promise<number>;
  /** Runs the statements of a transaction in their order. */
  readonly runAll: (
    connection: DatabaseConnection,
    statements: readonly CompiledQuery[],
  ) => Promise<QueryResult<unknown>[]>;
}

/** Kysely's adapter, which every connection, transaction and query builder has. */
export type AdapterWithDialect = DialectAdapter & { readonly dialect: Dialect };

export function dialectOf(db: Pick<Kysely<Tables>, 'getExecutor'>): Dialect {
  return (db.getExecutor().adapter as AdapterWithDialect).dialect;
}

/** The operation node of an expression, and the one that it is where reports are divided. */
export interface DividedNode {
  readonly divided?: unknown;
}

/** An expression that is another one where reports are divided, for conditions that are built without a connection. */
export function orDivided<T>(usual: RawBuilder<T>, divided: RawBuilder<T>): RawBuilder<T> {
  const toOperationNode = () =>
    ({ ...usual.toOperationNode(), divided: divided.toOperationNode() }) satisfies DividedNode;
  return sql<T>`${{ expressionType: undefined, toOperationNode }}`;
}
