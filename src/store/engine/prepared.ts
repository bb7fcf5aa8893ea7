import {
  type Compilable,
  CompiledQuery,
  type DatabaseConnection,
  type Expression,
  type Kysely,
  PostgresAdapter,
  type RawBuilder,
  sql,
} from 'kysely';
import type { Tables } from '../tables.ts';
import type { Tx } from './database.ts';

/** The types of parameters that every engine can bind. */
export type Value = string | number | Uint8Array | null;
type Params = Readonly<Record<string, Value>>;

/** The place of a parameter in a query. */
export type Param<P extends Params> = <K extends keyof P & string>(name: K) => Expression<P[K]>;

/** A prepared query with its parameters. */
export interface BoundQuery<Row> {
  readonly compile: Compile<Row>;
  readonly params: Params;
}

/** Builds and compiles the query for one store's engine. Its identity is what a store caches by. */
export type Compile<Row> = (db: Kysely<Tables>) => CompiledText<Row>;

export interface CompiledText<Row> {
  readonly sql: string;
  /** Names of the parameters, in the order of the text's placeholders. Other values are used as they are. */
  readonly slots: readonly unknown[];
  /** Whether a row is the value of the query's only column. */
  readonly isColumn: boolean;
  /** Never set: it only carries the row's type. */
  readonly row?: Row;
}

class Slot {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/**
 * A query that Kysely builds and compiles once for a store, and that runs many times with other parameters.
 * Building a query costs more than running it (reading one row takes 3 µs, building the query 19 µs or more).
 */
export function prepareQuery<P extends Params, Row>(
  build: (db: Kysely<Tables>, param: Param<P>) => Compilable<Row>,
): (params: P) => BoundQuery<Row> {
  const compile: Compile<Row> = (db) => compileText(build(db, toSlot), false);
  return (params) => ({ compile, params });
}

/**
 * The same for a query of one column. Its rows are the column's values, which costs less than an object for
 * each row.
 */
export function prepareColumn<P extends Params, Value>(
  build: (db: Kysely<Tables>, param: Param<P>) => Compilable<Readonly<Record<string, Value>>>,
): (params: P) => BoundQuery<Value> {
  const compile: Compile<Value> = (db) => compileText(build(db, toSlot), true);
  return (params) => ({ compile, params });
}

function toSlot<Value>(name: string): RawBuilder<Value> {
  return sql<Value>`${new Slot(name)}`;
}

function compileText<Row>(query: Compilable, isColumn: boolean): CompiledText<Row> {
  const { sql: text, parameters } = query.compile();
  return { sql: text, slots: parameters, isColumn };
}

/** The values of a query's placeholders, in order. */
export function toValues({ slots }: CompiledText<unknown>, params: Params): Value[] {
  return slots.map((slot) =>
    slot instanceof Slot ? (params[slot.name] ?? null) : (slot as Value),
  );
}

/** Compiled texts by engine. The key is the connection's dialect adapter, which determines the SQL. */
const texts = new WeakMap<object, Map<Compile<unknown>, CompiledText<unknown>>>();

/**
 * Runs prepared queries of a transaction in their order, and returns the rows of each. On PostgreSQL all are sent
 * before the first answer is there: after an error the server refuses the others. SQLite may have ended the
 * transaction after an error, so there each is run after the one before it has succeeded.
 */
export async function runAllPrepared<Row>(
  tx: Tx,
  queries: readonly BoundQuery<Row>[],
): Promise<Row[][]> {
  if (!(tx.getExecutor().adapter instanceof PostgresAdapter)) {
    const results: Row[][] = [];
    for (const query of queries) results.push(await runPrepared(tx, query));
    return results;
  }
  // Kysely runs the queries of a transaction one after another. Those of its connection are not.
  return await tx
    .getExecutor()
    .provideConnection((connection) =>
      Promise.all(queries.map((query) => runOn(connection, tx, query))),
    );
}

type Lists = Readonly<Record<string, readonly BoundQuery<unknown>[]>>;
type RowsOfLists<L extends Lists> = {
  readonly [Name in keyof L]: L[Name] extends readonly BoundQuery<infer Row>[] ? Row[] : never;
};

/** The same for lists of queries, one list after the other. Returns the rows of each list. */
export async function runListsPrepared<L extends Lists>(tx: Tx, lists: L): Promise<RowsOfLists<L>> {
  const results = (await runAllPrepared(tx, Object.values(lists).flat())).values();
  const rows = Object.entries(lists).map(([name, queries]) => [
    name,
    [...results.take(queries.length)].flat(),
  ]);
  return Object.fromEntries(rows);
}

/** Runs a prepared query on a connection or in a transaction. */
export async function runPrepared<Row>(db: Kysely<Tables>, query: BoundQuery<Row>): Promise<Row[]> {
  return await runOn(db, db, query);
}

async function runOn<Row>(
  on: Pick<Kysely<Tables>, 'executeQuery'> | DatabaseConnection,
  db: Kysely<Tables>,
  { compile, params }: BoundQuery<Row>,
): Promise<Row[]> {
  const text = toText(db, compile);
  const { rows } = await on.executeQuery(CompiledQuery.raw(text.sql, toValues(text, params)));
  return (text.isColumn ? rows.map(toOnlyValue) : rows) as Row[];
}

function toOnlyValue(row: unknown): unknown {
  return Object.values(row as object)[0];
}

/** The text for the engine of a connection or transaction, compiled once. */
export function toText(db: Kysely<Tables>, compile: Compile<unknown>): CompiledText<unknown> {
  const engine = db.getExecutor().adapter;
  const known = texts.get(engine) ?? new Map<Compile<unknown>, CompiledText<unknown>>();
  const text = known.get(compile) ?? compile(db);
  texts.set(engine, known.set(compile, text));
  return text;
}
