import {
  type Compilable,
  type Expression,
  type ExpressionBuilder,
  expressionBuilder,
  type Kysely,
  type RawBuilder,
  type SelectQueryBuilder,
} from 'kysely';
import { dialectOf } from '../engine/dialect.ts';
import type { Tables } from '../tables.ts';

/** The JSON text of a value of type `T`, as the database wrote it. */
export type JsonText<T> = string & { readonly json?: T };

/**
 * A row as JSON text, with its fields in the given order. A list reads it as the only column: handing over one
 * text costs a quarter less than handing over eight columns and making the same text of them.
 */
export function jsonRow<Fields extends Record<string, Expression<unknown>>>(
  db: Kysely<Tables>,
  fields: Fields,
) {
  return dialectOf(db).jsonRow(fields) as RawBuilder<JsonText<RowOf<Fields>>>;
}

/** The rows of a query without columns as JSON text, for a list that skips rows: no JSON is made of those. */
export function jsonRows<
  DB,
  T extends keyof DB,
  Fields extends Record<string, Expression<unknown>>,
>(
  db: Kysely<Tables>,
  query: SelectQueryBuilder<DB, T, object>,
  toFields: (ref: ExpressionBuilder<DB, T>['ref']) => Fields,
) {
  const { ref } = expressionBuilder<DB, T>();
  const rows = dialectOf(db).jsonRows(db, query as never, toFields(ref));
  return rows as Compilable<{ readonly item: JsonText<RowOf<Fields>> }>;
}

/** A row with these fields. A list derives its item's type from them, so the type has every field that is sent. */
export type RowOf<Fields> = {
  readonly [K in keyof Fields]: Fields[K] extends Expression<infer Value> ? Value : never;
};
