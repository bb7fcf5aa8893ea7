import { NEW } from '../../domain/reports/authentication.ts';
import { recountDays } from '../days/day-counts.ts';
import type { Tx } from '../engine/database.ts';
import { touchDays } from '../lists/heads.ts';
import { IS_NEW } from './index-conditions.ts';
import { ofDmarc, placeOf, type ReportRow } from './report-row.ts';

/*
 * A reporter's reports about a domain stop being new with its first one as an established reporter, in the same transaction.
 * Otherwise a domain that has no other reporter would lose its figures on that day.
 */

/** A reporter sends a domain one a day, or a few. Of more the newest go first, and the others with its next report. */
const REPORTS_AT_ONCE = 500;

/** The domain is locked. */
export async function establishReporter(tx: Tx, domainId: string, reporter: string): Promise<void> {
  const found = await tx
    .selectFrom('report')
    .select(['domain_id', 'begin_date', 'seq', 'authenticated', 'kind'])
    .where('domain_id', '=', domainId)
    .where('authenticated', '=', `${NEW}${reporter}`)
    .where(IS_NEW)
    .orderBy('begin_date', 'desc')
    .limit(REPORTS_AT_ONCE)
    .execute();
  if (found.length > 0) await believe(tx, found, reporter);
}

type Sent = Pick<ReportRow, 'domain_id' | 'begin_date' | 'seq' | 'authenticated' | 'kind'>;

/** The sender of reports of one domain, which is locked, became known better. Days show the difference, no list of reports does. */
export async function believe(tx: Tx, reports: readonly Sent[], authenticated: string | null) {
  const [domainId = ''] = reports.map(({ domain_id }) => domain_id);
  const [begins, seqs] = [reports.map((one) => one.begin_date), reports.map(({ seq }) => seq)];
  // The whole key (decision 90).
  const rows = tx.updateTable('report').set({ authenticated }).where('domain_id', '=', domainId);
  await rows.where('begin_date', 'in', begins).where('seq', 'in', seqs).execute();
  const counted = ofDmarc(reports);
  const after = counted.map((row) => placeOf({ ...row, authenticated }));
  await recountDays(tx, [...counted.map(placeOf), ...after]);
  await touchDays(tx, domainId);
}
