import { type Expression, type Kysely, sql } from 'kysely';
import type { Instant } from '../../domain/instant.ts';
import type { Tx } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import { prepareRows, type RowOf } from '../engine/many-rows.ts';
import type { Tables } from '../tables.ts';

/* The statements that store reports, each for many reports at once. */

const COLUMNS = [
  'id',
  'domain_seq',
  'account_seq',
  'tls_account_seq',
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
  'policies',
  'authenticated',
  'doubt',
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

type ReportKey = {
  domain_seq: number;
  begin_date: Instant;
  id: string;
  payload_sha256: Uint8Array;
};

const KEY = ['domain_seq', 'begin_date', 'id', 'payload_sha256'] as const;

const toTuples = (db: Kysely<Tables>, rows: readonly RowOf<ReportKey>[]) => {
  const { typed } = dialectOf(db);
  const tuples = rows.map(({ domain_seq, begin_date, id, payload_sha256 }) => {
    const values = [typed(domain_seq, 'bigint'), typed(begin_date, 'timestamptz')];
    return sql`(${sql.join([...values, typed(id, 'uuid'), typed(payload_sha256, 'bytea')])})`;
  });
  return sql<ReportKey>`(values ${sql.join(tuples)})`;
};

/**
 * The hashes of the contents that are stored, null where no report with the id is, and another report that has the same
 * content. A subquery looks up each key. For a join, PostgreSQL plans a scan of the table while it is small, and keeps that
 * plan until the table is analyzed. For two lists of values, SQLite reads all reports of a domain.
 */
const knownAtOnce = prepareRows(KEY, (db, rows: readonly RowOf<ReportKey>[]) =>
  db
    .with('key(domain_seq, begin_date, id, payload_sha256)', () => toTuples(db, rows))
    .selectFrom('key')
    .select('key.id')
    .select((eb) =>
      eb
        .selectFrom('report')
        .select('report.payload_sha256')
        .whereRef('report.domain_seq', '=', 'key.domain_seq')
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

/** Where reports are divided, those of the domains are asked for, */
const knownOfDomains = prepareRows(KEY, (db, rows: readonly RowOf<ReportKey>[]) =>
  db
    .selectFrom('report')
    .select(['id', 'payload_sha256', sql<string | null>`null::text`.as('other')])
    .where('domain_seq', 'in', toColumn(rows, 'domain_seq'))
    .where('id', 'in', toColumn(rows, 'id')),
);

/** So many reports with the contents of one statement are looked at. */
const MAX_REPEATED = 10_000;

/** and then all servers for what has the same content. */
const repeatedContents = prepareRows(KEY, (db, rows: readonly RowOf<ReportKey>[]) => {
  const found = db
    .selectFrom('report')
    .select(['id', 'payload_sha256'])
    .where('payload_sha256', 'in', toColumn(rows, 'payload_sha256'))
    .limit(MAX_REPEATED);
  return db
    .with('found', () => found)
    .with('key(domain_seq, begin_date, id, payload_sha256)', () => toTuples(db, rows))
    .selectFrom('key')
    .innerJoin('found', 'found.payload_sha256', 'key.payload_sha256')
    .whereRef('found.id', '<>', 'key.id')
    .select(['key.id', sql<Uint8Array | null>`null::bytea`.as('payload_sha256')])
    .select(({ fn }) => fn.max(sql<string>`found.id::text`).as('other'))
    .groupBy('key.id');
});

const toColumn = <Name extends keyof ReportKey>(rows: readonly RowOf<ReportKey>[], name: Name) =>
  rows.map((row) => row[name]) as unknown as Expression<ReportKey[Name]>;

export function knownReports(tx: Tx, rows: readonly ReportKey[]) {
  if (!dialectOf(tx).isDivided) return knownAtOnce(rows);
  return [...knownOfDomains(rows), ...repeatedContents(rows)];
}

export const removedPayloads = prepareRows(['id'], (db, rows: readonly RowOf<{ id: string }>[]) => {
  const ids = rows.map(({ id }) => id);
  const removed = db.selectFrom('removed_payload').where('report_id', 'in', ids);
  return removed.select(['report_id as id', 'payload_sha256']);
});
