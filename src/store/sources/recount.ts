import { type Expression, type SqlBool, sql } from 'kysely';
import type { Day, Instant } from '../../domain/instant.ts';
import { type ReportContent, unpackContent } from '../../domain/reports/report-content.ts';
import { countSources } from '../../domain/reports/source-counts.ts';
import { addReport, type DaySources } from '../../domain/sources/day-sources.ts';
import {
  isIntact,
  isKept,
  packSources,
  unpackSources,
} from '../../domain/sources/packed-sources.ts';
import { lockDomain } from '../domains/domains.ts';
import type { Db, Queries, Tx } from '../engine/database.ts';
import { runPrepared } from '../engine/prepared.ts';
import { touchReportList } from '../lists/heads.ts';
import { findReporterName } from '../reports/report-row.ts';
import { type DomainDay, daysOf, updateSources } from './days.ts';

/* The sources of a day whose packed value is damaged, counted again from the records of its reports. */

/** Some 200 ms of them. Of a day with more, its first reports are counted. */
export const MAX_RECORDS = 100_000;
const REPORTS_AT_ONCE = 100;

/** The caller has locked the domain, or sees whether it has changed since. */
export async function recountDay(
  db: Queries,
  { domainId, day }: DomainDay,
  isCounted: Expression<SqlBool> = sql<SqlBool>`true`,
): Promise<DaySources> {
  const sources: DaySources = new Map();
  let after = { begin_date: `${day}T00:00:00Z`, seq: 0 };
  for (let left = MAX_RECORDS; left > 0; ) {
    const reports = await listReports(db, { domainId, day, isCounted }, after);
    for (const report of reports) {
      const records = findRecords(report.content);
      addReport(sources, { reporter: findReporterName(report), sources: countSources(records) });
      left -= 1 + records.length;
    }
    const last = reports[REPORTS_AT_ONCE - 1];
    if (last === undefined) break;
    after = last;
  }
  return sources;
}

function listReports(
  db: Queries,
  { domainId, day, isCounted }: DomainDay & { readonly isCounted: Expression<SqlBool> },
  after: { readonly begin_date: Instant; readonly seq: number },
) {
  return db
    .selectFrom('report')
    .select(['begin_date', 'seq', 'reporter_org', 'reporter_email', 'content'])
    .where('domain_id', '=', domainId)
    .where('begin_date', '<=', `${day}T23:59:59Z`)
    .where(isCounted)
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('begin_date', 'seq'), '>', tuple(after.begin_date, after.seq)),
    )
    .orderBy('begin_date')
    .orderBy('seq')
    .limit(REPORTS_AT_ONCE)
    .execute();
}

/** What is damaged once may be so twice. */
function findRecords(content: Uint8Array): ReportContent['records'] {
  try {
    return unpackContent(content).records;
  } catch {
    return [];
  }
}

/**
 * The packed sources of a day with a change; counted again from the stored reports where they are damaged, and as they are
 * where they went by age.
 */
export async function changePacked(
  packed: Uint8Array | null,
  change: (sources: DaySources) => void,
  recount: () => Promise<DaySources>,
): Promise<Uint8Array | null> {
  if (!isKept(packed)) return packed;
  if (!isIntact(packed)) return packSources(await recount());
  const sources = unpackSources(packed);
  change(sources);
  return packSources(sources);
}

export async function repairDay(tx: Tx, at: DomainDay): Promise<void> {
  await updateSources(tx, at, await recountDay(tx, at));
}

/** Those that a page found damaged, unless they have been counted again since. Each in a transaction of its own. */
export async function repairDays(
  db: Db,
  { domainId, days }: { readonly domainId: string; readonly days: readonly Day[] },
): Promise<void> {
  for (const day of days)
    await db.write(async (tx) => {
      await lockDomain(tx, domainId);
      const [stored] = await runPrepared(tx, daysOf({ domainId, from: day, to: day }));
      if (stored === undefined || isIntact(stored.sources)) return;
      await repairDay(tx, { domainId, day });
      await touchReportList(tx, { table: 'domain', id: domainId });
    });
}
