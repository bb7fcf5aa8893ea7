import { daysNeeded, type Thresholds } from '../domain/alerts/thresholds.ts';
import { toFirstKept } from '../domain/retention.ts';
import { deleteOldAudit } from '../store/accounts/audit.ts';
import type { Db } from '../store/engine/database.ts';
import { measurePrunable, type Pruned, pruneReports } from '../store/retention/old-reports.ts';
import { giveBackSpace } from '../store/retention/space.ts';

interface RetentionDeps {
  readonly db: Db;
  readonly kept: {
    readonly reportsDays: number | undefined;
    readonly auditDays: number | undefined;
  };
  readonly thresholds: Thresholds;
  readonly now: () => Date;
  readonly mayGoOn: () => Promise<boolean>;
}

export interface Retained extends Pruned {
  readonly auditEntries: number;
  /** By which the file is smaller. */
  readonly fileBytes: number;
}

/** Deletes what is older than it is kept. Doing it twice does no harm. */
export async function prune(deps: RetentionDeps): Promise<Retained> {
  const { db, now, mayGoOn } = deps;
  const pruned = { reports: 0, bytes: 0, auditEntries: 0, fileBytes: 0 };
  const retention = toReportRetention(deps);
  if (retention !== undefined) Object.assign(pruned, await pruneReports(db, retention));
  const audited = toFirstKept(now(), deps.kept.auditDays);
  if (audited !== undefined)
    pruned.auditEntries = await deleteOldAudit(db, `${audited}T00:00:00Z`, mayGoOn);
  pruned.fileBytes = await giveBackSpace(db, mayGoOn);
  return pruned;
}

/** What of the reports would go. */
export async function measurePrune(deps: RetentionDeps): Promise<Pruned> {
  const retention = toReportRetention(deps);
  return retention === undefined ? { reports: 0, bytes: 0 } : measurePrunable(deps.db, retention);
}

function toReportRetention({ kept, thresholds, now, mayGoOn }: RetentionDeps) {
  const before = toFirstKept(now(), kept.reportsDays);
  return before === undefined ? undefined : { before, daysKept: daysNeeded(thresholds), mayGoOn };
}
