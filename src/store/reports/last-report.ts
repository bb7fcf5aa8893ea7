import type { Instant } from '../../domain/instant.ts';
import type { Queries, Tx } from '../engine/database.ts';
import { touchDomainList } from '../lists/heads.ts';

/* When a domain's newest report was received, after a report was removed or its content was exchanged. */

interface ReceivedReport {
  readonly seq: number;
  readonly domain_id: string;
  readonly received_at: Instant;
}

/** When the newest other report of a domain was received, and the version of the list that it was read from. */
export interface NewestOther {
  readonly version: string;
  readonly receivedAt: Instant | null;
}

/** Looks at all reports of the domain, so it is called before the transaction. */
export function findNewestOther(
  db: Queries,
  { domain_id, seq }: Pick<ReceivedReport, 'domain_id' | 'seq'>,
): Promise<NewestOther> {
  return db
    .selectFrom('domain')
    .select((eb) => [
      'reports_version as version',
      eb
        .selectFrom('report')
        .select((report) => report.fn.max('received_at').as('newest'))
        .where('domain_id', '=', domain_id)
        .where('seq', '<>', seq)
        .as('receivedAt'),
    ])
    .where('id', '=', domain_id)
    .executeTakeFirstOrThrow();
}

/**
 * When the report was the newest one, sets the time of the newest other report, or null. The account's list
 * of domains shows it.
 */
export async function correctLastReport(
  tx: Tx,
  report: ReceivedReport,
  newestOther: NewestOther,
): Promise<void> {
  const domain = await tx
    .selectFrom('domain')
    .select(['account_id', 'status', 'last_report_at', 'reports_version'])
    .where('id', '=', report.domain_id)
    .executeTakeFirstOrThrow();
  const { account_id, status, last_report_at, reports_version } = domain;
  if (last_report_at !== null && last_report_at > report.received_at) return;
  const isCurrent = newestOther.version === reports_version;
  const newest = await findNewest(tx, report, isCurrent ? newestOther : undefined);
  if (newest === last_report_at) return;
  const update = tx.updateTable('domain').set({ last_report_at: newest });
  await update.where('id', '=', report.domain_id).execute();
  if (account_id !== null && status === 'active') await touchDomainList(tx, account_id);
}

/** Of all reports as they are now; the report's own row may be deleted. */
async function findNewest(
  tx: Tx,
  report: ReceivedReport,
  known: NewestOther | undefined,
): Promise<Instant | null> {
  const { receivedAt } = known ?? (await findNewestOther(tx, report));
  const own = await tx
    .selectFrom('report')
    .select('received_at')
    .where('domain_id', '=', report.domain_id)
    .where('seq', '=', report.seq)
    .executeTakeFirst();
  if (own === undefined || (receivedAt !== null && receivedAt > own.received_at)) return receivedAt;
  return own.received_at;
}
