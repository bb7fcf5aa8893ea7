import { sql } from 'kysely';
import type { Instant } from '../../../domain/instant.ts';
import { prepareRows } from '../../engine/many-rows.ts';
import { prepareQuery } from '../../engine/prepared.ts';

/* The statements that store reports. Each is about many reports. */

/** A row of `report` that is not stored yet. */
export type NewReport = {
  readonly id: string;
  readonly domain_id: string;
  readonly source_seq: number;
  readonly member: string | null;
  readonly received_at: Instant;
  readonly reporter_org: string | null;
  readonly reporter_email: string | null;
  readonly report_id: string | null;
  readonly begin_date: Instant;
  readonly end_date: Instant;
  readonly record_count: number;
  readonly total_messages: number;
  readonly aligned_messages: number;
  readonly payload_sha256: string;
  readonly xml_namespace: string | null;
  readonly version: string | null;
  readonly warnings: string;
  readonly position: number;
};

const COLUMNS = [
  'id',
  'domain_id',
  'source_seq',
  'member',
  'received_at',
  'reporter_org',
  'reporter_email',
  'report_id',
  'begin_date',
  'end_date',
  'record_count',
  'total_messages',
  'aligned_messages',
  'payload_sha256',
  'xml_namespace',
  'version',
  'warnings',
  'position',
] as const satisfies readonly (keyof NewReport)[];

/** Inserts reports, none of which is stored yet: their domains are locked, and `knownReports` has found none. */
export const reportInserts = prepareRows<NewReport, { seq: number }>(COLUMNS, (db, rows) =>
  db
    .insertInto('report')
    .values(rows)
    // Without columns, because they differ between the engines. Who inserts throws when a row is missing.
    .onConflict((oc) => oc.doNothing())
    .returning('seq'),
);

interface KnownReport {
  readonly id: string;
  /** null when no report with the id is stored. */
  readonly payload_sha256: string | null;
}

/**
 * The contents that are stored for reports. A subquery looks each up by its key. For a join, PostgreSQL would read
 * the whole table while it is small, and go on to do so until it is analyzed; and for two lists of values, SQLite would
 * read all reports of a domain.
 */
export const knownReports = prepareRows<{ domain_id: string; id: string }, KnownReport>(
  ['domain_id', 'id'],
  (db, rows) =>
    db
      .with('wanted(domain_id, id)', () => {
        const tuples = rows.map(({ domain_id, id }) => sql`(${domain_id}, ${id})`);
        return sql<{ domain_id: string; id: string }>`(values ${sql.join(tuples)})`;
      })
      .selectFrom('wanted')
      .select('wanted.id')
      .select((eb) =>
        eb
          .selectFrom('report')
          .select('report.payload_sha256')
          .whereRef('report.domain_id', '=', 'wanted.domain_id')
          .whereRef('report.id', '=', 'wanted.id')
          .as('payload_sha256'),
      ),
);

export type RemovedPayload = { readonly report_id: string; readonly payload_sha256: string };

/** Whether an operator has ever removed a payload: a row, or none. */
export const anyRemoval = prepareQuery<Record<string, never>, { report_id: string }>((db) =>
  db.selectFrom('removed_payload').select('report_id').limit(1),
);

/** The payloads that were removed of reports. */
export const removedPayloads = prepareRows<{ id: string }, RemovedPayload>(['id'], (db, rows) =>
  db
    .selectFrom('removed_payload')
    .select(['report_id', 'payload_sha256'])
    .where(
      'report_id',
      'in',
      rows.map(({ id }) => id),
    ),
);
