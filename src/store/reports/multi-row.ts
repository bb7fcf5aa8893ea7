import type { Compilable, Expression, Kysely } from 'kysely';
import { type BoundQuery, prepareQuery, type Value } from '../connection/prepared.ts';
import type { Tables } from '../tables.ts';

/** Rows that one statement writes: several, because a statement of its own costs more than the row. */
const SIZES = [64, 8, 4, 2, 1] as const;

type Row = Readonly<Record<string, Value>>;
type Placed<R> = { [K in keyof R]: Expression<R[K]> };
/** The values of all rows, by their number. An array is such a record, and the fastest one. */
type Values = Readonly<Record<string, Value>>;

/**
 * Statements that write any number of rows, prepared for a few numbers of rows. `build` gets the places of the
 * rows' values.
 */
export function prepareRows<R extends Row, Result>(
  columns: readonly (keyof R & string)[],
  build: (db: Kysely<Tables>, rows: Placed<R>[]) => Compilable<Result>,
): (rows: readonly R[]) => BoundQuery<Result>[] {
  const prepareSize = (size: number) =>
    prepareQuery<Values, Result>((db, param) => {
      // The names are numbers, which are looked up in an array much faster than their texts.
      const nameOf = (row: number, column: number) => (row * columns.length + column) as never;
      const placeRow = (row: number) =>
        Object.fromEntries(columns.map((name, i) => [name, param(nameOf(row, i))])) as Placed<R>;
      return build(
        db,
        Array.from({ length: size }, (_, row) => placeRow(row)),
      );
    });
  const statements = new Map(SIZES.map((size) => [size as number, prepareSize(size)]));
  return (rows) =>
    toChunks(rows).map((chunk) => {
      const statement = statements.get(chunk.length) as ReturnType<typeof prepareSize>;
      return statement(toValues(columns, chunk));
    });
}

function toChunks<R>(rows: readonly R[]): (readonly R[])[] {
  const chunks: (readonly R[])[] = [];
  for (let from = 0; from < rows.length; ) {
    const left = rows.length - from;
    const size = SIZES.find((rows) => rows <= left) ?? 1;
    chunks.push(rows.slice(from, from + size));
    from += size;
  }
  return chunks;
}

function toValues(columns: readonly string[], rows: readonly Row[]): Values {
  const values: Value[] = [];
  for (const row of rows) for (const name of columns) values.push(row[name] ?? null);
  return values as unknown as Values;
}
