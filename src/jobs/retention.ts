import type { Config } from '../config/config.ts';
import { daysNeeded, type Thresholds } from '../domain/alerts/thresholds.ts';
import type { Day } from '../domain/instant.ts';
import { toFirstKept } from '../domain/retention.ts';
import type { Db } from '../store/engine/database.ts';
import { giveBackSpace } from '../store/engine/given-back.ts';
import { countOldAudit, deleteOldAudit } from '../store/events/audit.ts';
import { measureOldOriginals, pruneOriginals } from '../store/reports/aging/old-originals.ts';
import { measurePrunable, pruneReports } from '../store/reports/aging/old-reports.ts';
import { measureOldSources, pruneSources } from '../store/reports/aging/old-sources.ts';

interface RetentionDeps {
  readonly db: Db;
  readonly kept: Config['kept'];
  readonly thresholds: Thresholds;
  readonly now: () => Date;
  readonly mayGoOn: () => Promise<boolean>;
}

/** The order matters: what goes with its report is not there any more for the others, which measure it too. */
const KINDS = [
  { days: 'reportsDays', as: ['reports', 'bytes'], prune: pruneReports, measure: measurePrunable },
  {
    days: 'sourcesDays',
    as: ['sourceDays', 'sourceBytes'],
    prune: pruneSources,
    measure: measureOldSources,
  },
  {
    days: 'originalsDays',
    as: ['originals', 'originalBytes'],
    prune: pruneOriginals,
    measure: measureOldOriginals,
  },
] as const;

/** What goes, or would go. */
type OfKinds = Record<(typeof KINDS)[number]['as'][number], number>;

/** Deletes what is older than it is kept. Doing it twice does no harm. */
export async function prune(deps: RetentionDeps) {
  const { db, now, kept, mayGoOn } = deps;
  const pruned = await addUpKinds(deps, 'prune');
  const audited = toFirstKept(now(), kept.auditDays);
  const auditEntries = audited && (await deleteOldAudit(db, toInstantOf(audited), mayGoOn));
  // The bytes by which the file is smaller.
  const fileBytes = await giveBackSpace(db, mayGoOn);
  return { ...pruned, auditEntries: auditEntries ?? 0, fileBytes };
}

/** What would go, before anything has gone. */
export async function measurePrune(deps: RetentionDeps) {
  const { db, now, kept } = deps;
  const audited = toFirstKept(now(), kept.auditDays);
  const auditEntries = audited && (await countOldAudit(db, toInstantOf(audited)));
  return { ...(await addUpKinds(deps, 'measure')), auditEntries: auditEntries ?? 0 };
}

const toInstantOf = (day: Day) => `${day}T00:00:00Z`;

async function addUpKinds(
  { db, kept, thresholds, now, mayGoOn }: RetentionDeps,
  what: 'prune' | 'measure',
): Promise<OfKinds> {
  const sum: Partial<OfKinds> = {};
  // Alerts compare with these days, whatever their age.
  const daysKept = daysNeeded(thresholds);
  for (const { days, as, [what]: run } of KINDS) {
    const before = toFirstKept(now(), kept[days]);
    const nothing = { count: 0, bytes: 0 };
    const { count, bytes } =
      before === undefined ? nothing : await run(db, { before, daysKept, mayGoOn });
    Object.assign(sum, { [as[0]]: count, [as[1]]: bytes });
  }
  return sum as OfKinds;
}
