import { sql } from 'kysely';
import type { Tx } from '../engine/database.ts';
import { toExchangedRow } from '../reports/report-row.ts';
import type { Tables } from '../tables.ts';
import type { NewReport } from './report-rows.ts';

/** A content that has the identity of another report, which is stored. */
type OtherContent = Pick<Tables['report'], 'domain_id' | 'id' | 'payload_sha256'>;

export async function hasConflict(
  tx: Tx,
  { domain_id, id, payload_sha256 }: OtherContent,
): Promise<boolean> {
  const found = await tx
    .selectFrom('conflict')
    .select(sql<1>`1`.as('found'))
    .where(({ and }) => and({ domain_id, payload_sha256 }))
    .where('report_seq', '=', (eb) =>
      eb
        .selectFrom('report')
        .select('seq')
        .where(({ and }) => and({ domain_id, id })),
    )
    .executeTakeFirst();
  return found !== undefined;
}

/** The caller has locked the domain, and knows that there is none with this content. */
export async function insertConflict(tx: Tx, report: Omit<NewReport, 'position'>): Promise<void> {
  const { domain_id, id } = report;
  const { seq } = await tx
    .selectFrom('report')
    .select('seq')
    .where('domain_id', '=', domain_id)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  await tx
    .insertInto('conflict')
    .values({ domain_id, report_seq: seq, ...toExchangedRow(report) })
    .execute();
}
