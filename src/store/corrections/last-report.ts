import type { Selectable } from 'kysely';
import type { Instant } from '../../domain/instant.ts';
import type { Queries, Tx } from '../engine/database.ts';
import { touchDomainList } from '../lists/heads.ts';
import type { Tables } from '../tables.ts';

/* When a domain's newest report was received, after a report was removed or its content was exchanged. */

type ReportRow = Selectable<Pick<Tables['report'], 'seq' | 'domain_id' | 'received_at'>>;

/** When the newest other report of a domain was received, and the version of the list that it was read from. */
export interface NewestOther {
  readonly version: string;
  readonly receivedAt: Instant | null;
}

/** Reads all reports of the domain, so corrections call it before their transaction. */
export function findNewestOther(
  db: Queries,
  { domain_id, seq }: Pick<ReportRow, 'domain_id' | 'seq'>,
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

/** Changes nothing unless `report` was the last. Reads `newestOther` again when the list of reports changed since. */
export async function correctLastReport(
  tx: Tx,
  report: ReportRow,
  newestOther: NewestOther,
): Promise<void> {
  const { domain_id, seq, received_at } = report;
  const { account_id, status, last_report_at, reports_version } = await tx
    .selectFrom('domain')
    .select(['account_id', 'status', 'last_report_at', 'reports_version'])
    .where('id', '=', domain_id)
    .executeTakeFirstOrThrow();
  if (last_report_at !== null && last_report_at > received_at) return;
  const isCurrent = newestOther.version === reports_version;
  const other = isCurrent ? newestOther : await findNewestOther(tx, report);
  // The report's own row was deleted or has another time now.
  const own = await tx
    .selectFrom('report')
    .select('received_at')
    .where('domain_id', '=', domain_id)
    .where('seq', '=', seq)
    .executeTakeFirst();
  const newest = later(other.receivedAt, own?.received_at ?? null);
  if (newest === last_report_at) return;
  const update = tx.updateTable('domain').set({ last_report_at: newest });
  await update.where('id', '=', domain_id).execute();
  if (account_id !== null && status === 'active') await touchDomainList(tx, account_id);
}

function later(a: Instant | null, b: Instant | null): Instant | null {
  if (a === null || b === null) return a ?? b;
  return a > b ? a : b;
}
