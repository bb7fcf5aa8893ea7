import type { Instant } from '../../domain/instant.ts';
import type { Db } from '../engine/database.ts';

/** A domain that reports came in for and that no account has. */
export interface UnclaimedDomain {
  readonly name: string;
  readonly reports: number;
  readonly lastReportAt: Instant | null;
}

/** The unclaimed domains with the most reports, and how many there are in all. */
export async function listUnclaimed(
  db: Db,
  { limit }: { limit: number },
): Promise<{ total: number; domains: UnclaimedDomain[] }> {
  const unclaimed = db.selectFrom('domain').where('account_id', 'is', null);
  const { total } = await unclaimed
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await unclaimed
    .select(['name', 'reports_total as reports', 'last_report_at as lastReportAt'])
    .orderBy('reports_total', 'desc')
    .orderBy('name')
    .limit(limit)
    .execute();
  const domains = rows.map((row) => ({ ...row, reports: Number(row.reports) }));
  return { total: Number(total), domains };
}

/** How many reports a domain has. */
export async function countReports(db: Db, domainId: string): Promise<number> {
  const { reports } = await db
    .selectFrom('domain')
    .select('reports_total as reports')
    .where('id', '=', domainId)
    .executeTakeFirstOrThrow();
  return Number(reports);
}

/** Whether reports came in for a name that no account has. */
export async function isUnclaimed(db: Db, name: string): Promise<boolean> {
  const domain = await db
    .selectFrom('domain')
    .select('account_id')
    .where('name', '=', name)
    .executeTakeFirst();
  return domain?.account_id === null;
}
