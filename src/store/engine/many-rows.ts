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

/** All rows' values by number: an array is read much faster than an object with names. */
type Values = Readonly<Record<number, Value>>;

/** Compiles a statement for each size once. Returns a function that covers rows, in order, by the fewest statements. */
export function prepareRows<
  Row extends Readonly<Record<string, Value>>,
  Query extends Compilable<unknown>,
>(
  names: readonly (keyof Row & string)[],
  build: (db: Kysely<Tables>, rows: readonly RowOf<Row>[]) => Query,
): (rows: readonly Row[]) => BoundQuery<ResultOf<Query>>[] {
  const prepareSize = (size: number) =>
    prepareQuery((db, param: Param<Values>) => {
      const toPlaces = (row: number) =>
        names.map((name, n) => [name, param((row * names.length + n) as never)]);
      const rows = Array.from({ length: size }, (_, row) => Object.fromEntries(toPlaces(row)));
      return build(db, rows as RowOf<Row>[]);
    });
  const prepared = SIZES.map((size) => ({ size, query: prepareSize(size) }));
  return (rows) => {
    const queries: BoundQuery<ResultOf<Query>>[] = [];
    for (let from = 0; from < rows.length; ) {
      const left = rows.length - from;
      const { size, query } = prepared.find((one) => one.size <= left) as (typeof prepared)[number];
      const values: Value[] = [];
      for (const row of rows.slice(from, from + size))
        for (const name of names) values.push(row[name] as Value);
      queries.push(query(values as unknown as Values));
      from += size;
    }
    return queries;
  };
}
