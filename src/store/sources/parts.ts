import { type Expression, type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import { dialectOf } from '../engine/dialect.ts';
import type { Param } from '../engine/prepared.ts';
import type { Tables } from '../tables.ts';

/** What one address sent in a domain's name in a range: messages. */
export interface SourceCounts {
  readonly address: string;
  readonly messages: number;
  /** Those that passed DMARC. */
  readonly aligned: number;
  /** Those for which DKIM, and SPF, passed and was aligned. */
  readonly dkim_aligned: number;
  readonly spf_aligned: number;
}

export const SUMS = ['messages', 'aligned', 'dkim_aligned', 'spf_aligned'] as const;

/** The columns that a part of a range, a day or a period, has for an address. A day is its own first and last day. */
export const PART = [...SUMS, 'first_day', 'last_day'] as const;
export type PartColumn = (typeof PART)[number];

/** The parts of a range of a domain: JSON arrays of days and of periods. */
export type CoverLists = { domainId: string; days: string; periods: string };

/**
 * One row for each address and part. Only the needed columns are selected, because the rows of a range are sorted
 * with all of them. `addresses` is a JSON array; without it, all addresses are read.
 */
export function selectParts<P extends CoverLists>(
  db: Kysely<Tables>,
  param: Param<P>,
  columns: readonly PartColumn[],
  addresses?: Expression<string>,
) {
  const { isIn } = dialectOf(db);
  const domainId = param('domainId');
  const isChosen =
    addresses === undefined ? sql<SqlBool>`1 = 1` : isIn(sql.ref('address'), addresses);
  return db
    .selectFrom('domain_source_ip')
    .select(['address', ...columns.map(toDayColumn)])
    .where('domain_id', '=', domainId)
    .where(isIn(sql.ref('day'), param('days')))
    .where(isChosen)
    .unionAll(
      db
        .selectFrom('source_sum')
        .select(['address', ...columns])
        .where('domain_id', '=', domainId)
        .where(isIn(sql.ref('period'), param('periods')))
        .where(isChosen),
    );
}

function toDayColumn(column: PartColumn) {
  return column === 'first_day' || column === 'last_day' ? (`day as ${column}` as const) : column;
}

/** In floating point, exact up to 2^53. Counts stop at 2^53 − 1; the sum of many of that size overflows an int64. */
export function sumOf(counted: string | RawBuilder<number>): RawBuilder<number> {
  const value = typeof counted === 'string' ? sql.ref(counted) : counted;
  return sql<number>`coalesce(sum(cast(${value} as double precision)), 0)`;
}
