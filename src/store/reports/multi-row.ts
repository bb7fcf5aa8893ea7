import type { Compilable, Expression, Kysely } from 'kysely';
import { type BoundQuery, prepareQuery, type Value } from '../connection/prepared.ts';
import type { Tables } from '../tables.ts';

/** Rows that one statement writes: several, because a statement of its own costs more than the row. */
const SIZES = [64, 8, 4, 2, 1] as const;

type Row = Readonly<Record<string, Value>>;
type Numbered = Readonly<Record<string, Value>>;
type Placed<R> = { [K in keyof R]: Expression<R[K]> };

/**
 * Statements that write any number of rows, prepared for a few numbers of rows. `build` gets the places of the
 * rows' values.
 */
export function prepareRows<R extends Row, Result>(
  columns: readonly (keyof R & string)[],
  build: (db: Kysely<Tables>, rows: Placed<R>[]) => Compilable<Result>,
): (rows: readonly R[]) => BoundQuery<Result>[] {
  const prepareSize = (size: number) =>
    prepareQuery<Numbered, Result>((db, param) => {
      const placeRow = (i: number) =>
        Object.fromEntries(columns.map((name) => [name, param(`${name}${i}`)])) as Placed<R>;
      return build(
        db,
        Array.from({ length: size }, (_, i) => placeRow(i)),
      );
    });
  const statements = new Map(SIZES.map((size) => [size as number, prepareSize(size)]));
  return (rows) =>
    toChunks(rows).map((chunk) => {
      const statement = statements.get(chunk.length) as ReturnType<typeof prepareSize>;
      return statement(toParams(columns, chunk));
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

function toParams(columns: readonly string[], rows: readonly Row[]): Numbered {
  const params: Record<string, Value> = {};
  for (const [i, row] of rows.entries())
    for (const name of columns) params[`${name}${i}`] = row[name] ?? null;
  return params;
}
