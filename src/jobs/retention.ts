import type { Config } from '../config/config.ts';
import { Failure } from '../domain/failure.ts';
import { toFirstKept } from '../domain/retention.ts';
import { findClockFault } from '../store/backup/newest.ts';
import type { Db } from '../store/engine/database.ts';
import { giveBackSpace } from '../store/engine/given-back.ts';
import { countOldAudit, deleteOldAudit } from '../store/events/audit.ts';
import { measureOldOriginals, pruneOriginals } from '../store/reports/aging/old-originals.ts';
import {
  type Amount,
  measurePrunable,
  pruneReports,
  type Retention,
} from '../store/reports/aging/old-reports.ts';

interface RetentionDeps {
  readonly db: Db;
  readonly kept: Config['kept'];
  readonly now: () => Date;
  readonly mayGoOn: () => Promise<boolean>;
  readonly backupFolder?: string | undefined;
}

/** Deletes what is older than it is kept. Doing it twice does no harm. Throws a Failure when the clock may be wrong. */
export async function prune(deps: RetentionDeps) {
  const fault = await findClockFault(deps.db, deps.now(), deps.backupFolder);
  if (fault !== undefined) throw new Failure('conflict', `Nothing is deleted by age: ${fault}`);
  const ways = { reports: pruneReports, originals: pruneOriginals, audit: deleteOldAudit };
  const pruned = await addUp(deps, ways);
  // The bytes by which the file is smaller.
  return { ...pruned, fileBytes: await giveBackSpace(deps.db, deps.mayGoOn) };
}

/** What would go, before anything has gone. */
export function measurePrune(deps: RetentionDeps) {
  const ways = { reports: measurePrunable, originals: measureOldOriginals, audit: countOldAudit };
  return addUp(deps, ways);
}

type Way = (db: Db, retention: Retention) => Promise<Amount>;

async function addUp(
  { db, kept, now, mayGoOn }: RetentionDeps,
  ways: Readonly<Record<'reports' | 'originals' | 'audit', Way>>,
) {
  const run = async (way: Way, days: number | undefined): Promise<Amount> => {
    const before = toFirstKept(now(), days);
    return before === undefined ? { count: 0, bytes: 0 } : await way(db, { before, mayGoOn });
  };
  // The order matters: what goes with its report is not there any more for the others, which measure it too.
  const { count: reports, bytes } = await run(ways.reports, kept.reportsDays);
  const originals = await run(ways.originals, kept.originalsDays);
  const audit = await run(ways.audit, kept.auditDays);
  return {
    reports,
    bytes,
    originals: originals.count,
    originalBytes: originals.bytes,
    auditEntries: audit.count,
  };
}
