import type { MailProof } from '../../domain/reports/authentication.ts';
import { IS_NEW } from '../days/belief.ts';
import { recountDays } from '../days/day-counts.ts';
import type { Tx } from '../engine/database.ts';
import { isOfDomain, touchDays, touchTls } from '../lists/heads.ts';
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
    .select(['begin_date', 'seq', 'doubt', 'kind'])
    .where(isOfDomain(domainId))
    .where('authenticated', '=', reporter)
    .where(IS_NEW)
    .orderBy('begin_date', 'desc')
    .limit(REPORTS_AT_ONCE)
    .execute();
  if (found.length > 0)
    await believe(tx, domainId, {
      reports: found,
      proof: { authenticated: reporter, doubt: null },
    });
}

interface Believed {
  readonly reports: readonly Pick<ReportRow, 'begin_date' | 'seq' | 'doubt' | 'kind'>[];
  readonly proof: MailProof;
}

/** The sender of reports of one domain, which is locked, became known better. Days show the difference, no list of reports does. */
export async function believe(tx: Tx, domainId: string, { reports, proof }: Believed) {
  const [begins, seqs] = [reports.map((one) => one.begin_date), reports.map(({ seq }) => seq)];
  // The whole key (decision 90).
  const rows = tx.updateTable('report').set(proof).where(isOfDomain(domainId));
  await rows.where('begin_date', 'in', begins).where('seq', 'in', seqs).execute();
  const counted = ofDmarc(reports);
  if (counted.length < reports.length) await touchTls(tx, domainId);
  const both = counted.flatMap((row) => [row, { ...row, ...proof }]);
  const places = both.map((row) => placeOf(domainId, row));
  await recountDays(tx, places);
  await touchDays(tx, domainId);
}
