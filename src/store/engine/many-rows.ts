import type { Compilable, Expression, Kysely } from 'kysely';
import type { Tables } from '../tables.ts';
import {
  type BoundQuery,
  type Param,
  prepareQuery,
  type ResultOf,
  type Value,
} from './prepared.ts';

/* A statement costs more than a row: a round trip, and on both sides its beginning and its end. */

/** Rows of one statement. An engine prepares a statement for each number of rows, so there are few numbers. */
const SIZES = [64, 16, 4, 1] as const;

export type RowOf<Row> = { readonly [Name in keyof Row]: Expression<Row[Name]> };

type Build<Row, Query> = (db: Kysely<Tables>, rows: readonly RowOf<Row>[]) => Query;

/**
 * Compiles a statement for each size once. Returns a function that covers rows, in order, by the fewest statements.
 */
export function prepareRows<
  Row extends Readonly<Record<string, Value>>,
  Query extends Compilable<unknown>,
>(
  names: readonly (keyof Row & string)[],
  build: Build<Row, Query>,
): (rows: readonly Row[]) => BoundQuery<ResultOf<Query>>[] {
  const prepared = new Map(SIZES.map((size) => [size, prepareSize(size, names, build)]));
  return (rows) => {
    const queries: BoundQuery<ResultOf<Query>>[] = [];
    for (let from = 0; from < rows.length; ) {
      const size = SIZES.find((size) => size <= rows.length - from) ?? 1;
      const query = prepared.get(size) as NonNullable<ReturnType<typeof prepared.get>>;
      queries.push(query(rows.slice(from, from + size)));
      from += size;
    }
    return queries;
  };
}

function prepareSize<
  Row extends Readonly<Record<string, Value>>,
  Query extends Compilable<unknown>,
>(size: number, names: readonly (keyof Row & string)[], build: Build<Row, Query>) {
  const query = prepareQuery((db, param: Param<Values>) =>
    build(
      db,
      Array.from({ length: size }, (_, i) => toPlaces(names, i, param)),
    ),
  );
  return (rows: readonly Row[]) => {
    const values: Value[] = [];
    for (const row of rows) for (const name of names) values.push(row[name] as Value);
    return query(values as unknown as Values);
  };
}

/** All rows' values by number: an array is read much faster than an object with names. */
type Values = Readonly<Record<number, Value>>;

function toPlaces<Row>(names: readonly string[], row: number, param: Param<Values>): RowOf<Row> {
  const places = names.map((name, n) => [name, param((row * names.length + n) as never)]);
  return Object.fromEntries(places) as RowOf<Row>;
}
