import { sql } from 'kysely';
import { type Instant, toDay } from '../../../domain/instant.ts';
import { toTrust } from '../../../domain/reports/authentication.ts';
import { IS_DOUBTFUL } from '../../days/belief.ts';
import { ORIGINAL_BYTES, ROW_BYTES } from '../../documents/stored-bytes.ts';
import type { Tx } from '../../engine/database.ts';
import { isOfDomain } from '../../lists/heads.ts';
import { noteRemovals } from '../removal.ts';
import { deleteSome } from './old-reports.ts';

/*
 * Anybody can send reports about an account's domain. Those of no established reporter are bounded by domain and day of
 * receipt. Files are the operator's own, and have no bound.
 */

/** A large domain has reports of a few thousand reporters a day, of 6 kB with rows and originals. */
const BOUNDS = { reports: 10_000, bytes: 64 * 1024 * 1024 };

/** Deletes what is over the bounds, in the transaction that stored it: the oldest that nobody authenticated go first. */
export async function trimDoubtful(
  tx: Tx,
  domainId: string,
  { now, bounds = BOUNDS }: { readonly now: Instant; readonly bounds?: typeof BOUNDS },
): Promise<void> {
  const received = await tx
    .selectFrom('report')
    .leftJoin('document', 'document.seq', 'document_seq')
    .select(['report.seq', 'doubt'])
    .select(sql<number>`${ROW_BYTES} + length(report.content) + ${ORIGINAL_BYTES}`.as('bytes'))
    .where(isOfDomain(domainId))
    .where('report.received_at', '>=', `${toDay(now)}T00:00:00Z`)
    .where(IS_DOUBTFUL)
    .execute();
  let [reports, bytes] = [0, 0];
  const over = received
    .sort((a, b) => toTrust(b.doubt) - toTrust(a.doubt) || b.seq - a.seq)
    .filter((row) => {
      reports += 1;
      bytes += Number(row.bytes);
      return reports > bounds.reports || bytes > bounds.bytes;
    })
    .map(({ seq }) => seq);
  if (over.length === 0) return;
  const stored = tx.selectFrom('report').selectAll().where(isOfDomain(domainId));
  const rows = await stored.where('seq', 'in', over).orderBy('seq').execute();
  const { count } = await deleteSome(tx, domainId, rows);
  // A client can't know that they have gone, as it does of what goes by age.
  await noteRemovals(tx, rows.slice(0, count), now);
}
