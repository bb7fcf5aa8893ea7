import { type Kysely, PostgresAdapter, type RawBuilder, sql } from 'kysely';

/*
 * What the columns of a table mean, and the type that each engine has for it. The program has the same values on both:
 * engine/postgres/values.ts turns those of PostgreSQL into them.
 */

type Meaning = keyof typeof SQLITE;

/** A type without affinity would turn texts that look like numbers into numbers. */
const SQLITE = {
  id: 'text',
  instant: 'text',
  day: 'text',
  /** Of a source, in its canonical text. */
  address: 'text',
  /** Compared byte by byte on both engines. */
  text: 'text',
  bytes: 'blob',
  /** Up to 2^53 − 1. */
  count: 'integer',
  /** Below 2^31. */
  number: 'integer',
  /** 0 or 1. */
  flag: 'integer',
} as const;

const POSTGRES: Readonly<Record<Meaning, string>> = {
  id: 'uuid',
  instant: 'timestamptz',
  day: 'date',
  address: 'inet',
  text: 'text collate "C"',
  bytes: 'bytea',
  count: 'bigint',
  number: 'integer',
  flag: 'smallint',
};

export type ColumnTypes = Readonly<Record<Meaning, RawBuilder<unknown>>>;

export function columnTypes(db: Kysely<never>): ColumnTypes {
  const names = Object.entries(isPostgres(db) ? POSTGRES : SQLITE);
  return Object.fromEntries(names.map(([meaning, name]) => [meaning, sql.raw(name)])) as never;
}

export function isPostgres(db: Kysely<never>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}
