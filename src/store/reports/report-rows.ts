import { sql } from 'kysely';
import type { Instant } from '../../domain/instant.ts';
import { dialectOf } from '../engine/dialect.ts';
import { prepareRows, type RowOf } from '../engine/many-rows.ts';
import type { Tables } from '../tables.ts';

/* The statements that store reports, each for many reports at once. */

const COLUMNS = [
  'id',
  'domain_id',
  'account_seq',
  'number',
  'revision',
  'document_seq',
  'received_at',
  'reporter_org',
  'reporter_email',
  'reporter',
  'reporter_host',
  'report_id',
  'kind',
  'authenticated',
  'begin_date',
  'end_date',
  'record_count',
  'total_messages',
  'aligned_messages',
  'dkim_aligned',
  'spf_aligned',
  'quarantined',
  'rejected',
  'otherwise',
  'payload_sha256',
  'warnings',
  'nonce',
  'content',
] as const;

/** A row of `report`. A column that COLUMNS lacks would not be stored, and does not compile. */
type Row = [Unstored] extends [never]
  ? Readonly<Pick<Tables['report'], (typeof COLUMNS)[number]>>
  : { readonly 'COLUMNS lacks': Unstored };
type Unstored = Exclude<keyof Tables['report'], (typeof COLUMNS)[number] | 'seq'>;

/** Inserts reports, none of which is stored yet: their domains are locked, and `knownReports` has found none. */
export const reportInserts = prepareRows(COLUMNS, (db, rows: readonly RowOf<Row>[]) =>
  db
    .insertInto('report')
    .values(rows)
    // No columns are named, because the unique columns differ between the engines. The caller counts the rows.
    .onConflict((oc) => oc.doNothing())
    .returning('seq'),
);

type ReportKey = { domain_id: string; begin_date: Instant; id: string; payload_sha256: Uint8Array };

/**
 * The hashes of the contents that are stored, null where no report with the id is, and another report that has the same
 * content. A subquery looks up each key. For a join, PostgreSQL plans a scan of the table while it is small, and keeps that
 * plan until the table is analyzed. For two lists of values, SQLite reads all reports of a domain.
 */
export const knownReports = prepareRows(
  ['domain_id', 'begin_date', 'id', 'payload_sha256'],
  (db, rows: readonly RowOf<ReportKey>[]) =>
    db
      .with('key(domain_id, begin_date, id, payload_sha256)', () => {
        const { typed } = dialectOf(db);
        const tuples = rows.map(({ domain_id, begin_date, id, payload_sha256 }) => {
          const values = [typed(domain_id, 'uuid'), typed(begin_date, 'timestamptz')];
          return sql`(${sql.join([...values, typed(id, 'uuid'), typed(payload_sha256, 'bytea')])})`;
        });
        return sql<ReportKey>`(values ${sql.join(tuples)})`;
      })
      .selectFrom('key')
      .select('key.id')
      .select((eb) =>
        eb
          .selectFrom('report')
          .select('report.payload_sha256')
          .whereRef('report.domain_id', '=', 'key.domain_id')
          .whereRef('report.begin_date', '=', 'key.begin_date')
          .whereRef('report.id', '=', 'key.id')
          .as('payload_sha256'),
      )
      .select((eb) =>
        eb
          .selectFrom('report')
          .select('report.id')
          .whereRef('report.payload_sha256', '=', 'key.payload_sha256')
          .whereRef('report.id', '<>', 'key.id')
          .limit(1)
          .as('other'),
      ),
);

export const removedPayloads = prepareRows(['id'], (db, rows: readonly RowOf<{ id: string }>[]) => {
  const ids = rows.map(({ id }) => id);
  const removed = db.selectFrom('removed_payload').where('report_id', 'in', ids);
  return removed.select(['report_id as id', 'payload_sha256']);
});
