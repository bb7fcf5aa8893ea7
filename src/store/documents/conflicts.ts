import { sql } from 'kysely';
import type { Tx } from '../engine/database.ts';
import { toExchangedRow } from '../reports/report-row.ts';
import type { NewReport } from './report-rows.ts';

/** A content that has the identity of another report, which is stored. */
type OtherContent = Omit<NewReport, 'position' | 'nonce' | 'document_seq'>;

export async function hasConflict(
  tx: Tx,
  { domain_id, id: report_id, begin_date, payload_sha256 }: OtherContent,
): Promise<boolean> {
  const found = await tx
    .selectFrom('conflict')
    .select(sql<1>`1`.as('found'))
    .where(({ and }) => and({ report_id, domain_id, begin_date, payload_sha256 }))
    .executeTakeFirst();
  return found !== undefined;
}

/** The caller has locked the domain, and knows that there is none with this content. */
export async function insertConflict(
  tx: Tx,
  report: Omit<NewReport, 'position' | 'nonce'>,
): Promise<void> {
  const { domain_id, id: report_id, begin_date } = report;
  await tx
    .insertInto('conflict')
    .values({ domain_id, report_id, begin_date, ...toExchangedRow(report) })
    // A row that is not inserted means that its `seq` exists already, as after a sequence was set back.
    .onConflict((oc) => oc.doNothing())
    .returning('seq')
    .executeTakeFirstOrThrow();
}
