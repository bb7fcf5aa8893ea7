import { type RawBuilder, sql } from 'kysely';
import { type Instant, toDay } from '../../domain/instant.ts';
import { unpackContent } from '../../domain/reports/report-content.ts';
import { countSources } from '../../domain/reports/source-counts.ts';
import { addReport, type DaySources, subtractDay } from '../../domain/sources/day-sources.ts';
import { isIntact, unpackSources } from '../../domain/sources/packed-sources.ts';
import { sourcesOfDay } from '../documents/arrival-counts.ts';
import type { Tx } from '../engine/database.ts';
import { runPrepared } from '../engine/prepared.ts';
import { newVersion, touchDomainList } from '../lists/heads.ts';
import { insertGaps, insertPoint } from '../lists/points.ts';
import { reportList } from '../lists/timeline.ts';
import { type DomainDay, updateSources } from '../sources/days.ts';
import { deleteMonth } from '../sources/months.ts';
import type { ReportRow } from './rows.ts';

/* Subtracts one report from every count that arrival-counts.ts adds it to. */

interface Departure {
  readonly replacedAt: Instant | null;
  /** Of all that was stored of it. */
  readonly bytes: number;
}

/**
 * `report` is the row as it was counted. The stored row must be deleted before this is called, or be exchanged for
 * what came in at `replacedAt`.
 */
export async function uncountReport(
  tx: Tx,
  report: ReportRow,
  { replacedAt, bytes }: Departure,
): Promise<void> {
  const at = { domainId: report.domain_id, day: toDay(report.begin_date) };
  await uncountDay(tx, at, report);
  await uncountSources(tx, at, report);
  await deleteMonth(tx, at);
  await uncountReceipt(tx, report, bytes);
  await correctLastReport(tx, report, replacedAt);
  await leavePosition(tx, report);
  await shortenReportList(tx, at.domainId);
}

/** Clients may come back with a cursor of the position that the report had. */
async function leavePosition(tx: Tx, { domain_id, position, nonce }: ReportRow): Promise<void> {
  await insertGaps(tx, reportList(domain_id), [position]);
  await insertPoint(tx, reportList(domain_id), { position, nonce });
}

/** A day without reports must have no rows. */
async function uncountDay(tx: Tx, { domainId, day }: DomainDay, report: ReportRow): Promise<void> {
  const counted = await tx
    .updateTable('domain_day')
    .set((eb) => ({
      reports: eb('reports', '-', 1),
      messages: withoutReport(report, 'messages', 'total_messages'),
      aligned: withoutReport(report, 'aligned', 'aligned_messages'),
    }))
    .where('domain_id', '=', domainId)
    .where('day', '=', day)
    .returning('reports')
    .executeTakeFirst();
  if (counted === undefined || counted.reports > 0) return;
  const none = tx.deleteFrom('domain_day').where('domain_id', '=', domainId);
  await none.where('day', '=', day).execute();
}

/**
 * A day's sum without one report. A sum that stopped at 2^53 − 1 does not include all that was added, so subtracting
 * from it is wrong: the sum is computed again from the day's other reports.
 */
function withoutReport(
  report: ReportRow,
  sum: 'messages' | 'aligned',
  of: 'total_messages' | 'aligned_messages',
): RawBuilder<number> {
  const [column, max] = [sql.ref(sum), sql.lit(Number.MAX_SAFE_INTEGER)];
  const total = sql`coalesce(sum(${sql.ref(of)}), 0)`;
  const day = toDay(report.begin_date);
  const others = sql`(
    select case when ${total} > ${max} then ${max} else ${total} end from report
    where domain_id = ${report.domain_id} and seq <> ${report.seq}
      and begin_date >= ${day} and begin_date <= ${`${day}T23:59:59Z`})`;
  return sql<number>`case when ${column} >= ${max} then ${others} else ${column} - ${report[of]} end`;
}

/** A count may be too small, and is never too large or negative. What is damaged stays so until it is read or added to. */
async function uncountSources(tx: Tx, at: DomainDay, report: ReportRow): Promise<void> {
  const [stored = null] = await runPrepared(tx, sourcesOfDay(at));
  if (!isIntact(stored)) return;
  const sources = unpackSources(stored);
  const departed: DaySources = new Map();
  const { records } = unpackContent(report.content);
  addReport(departed, { reporter: report.reporter_org, sources: countSources(records) });
  subtractDay(sources, departed);
  await updateSources(tx, at, sources);
}

async function uncountReceipt(
  tx: Tx,
  { domain_id, received_at }: ReportRow,
  bytes: number,
): Promise<void> {
  const day = toDay(received_at);
  const receipts = tx.updateTable('domain_receipt').where('domain_id', '=', domain_id);
  await receipts
    .set((eb) => ({ reports: eb('reports', '-', 1), bytes: eb('bytes', '-', bytes) }))
    .where('day', '=', day)
    .execute();
  const none = tx.deleteFrom('domain_receipt').where('domain_id', '=', domain_id);
  await none.where('day', '=', day).where('reports', '<=', 0).execute();
}

/**
 * When a domain's newest report was received, after `report` was removed, or was exchanged for what came in at
 * `replacedAt`. The counts of receipts must be right already.
 */
async function correctLastReport(
  tx: Tx,
  report: ReportRow,
  replacedAt: Instant | null,
): Promise<void> {
  const { domain_id, received_at } = report;
  const { account_id, status, last_report_at } = await tx
    .selectFrom('domain')
    .select(['account_id', 'status', 'last_report_at'])
    .where('id', '=', domain_id)
    .executeTakeFirstOrThrow();
  if (last_report_at !== null && last_report_at > received_at) return;
  const newest = later(await findNewestOther(tx, report), replacedAt);
  if (newest === last_report_at) return;
  const update = tx.updateTable('domain').set({ last_report_at: newest });
  await update.where('id', '=', domain_id).execute();
  if (account_id !== null && status === 'active') await touchDomainList(tx, account_id);
}

/**
 * The last day on which others were received says how many to look for. They are nearly always the last that have
 * positions, so no index is needed.
 */
async function findNewestOther(tx: Tx, { domain_id, seq }: ReportRow): Promise<Instant | null> {
  const last = await tx
    .selectFrom('domain_receipt')
    .select(['day', 'reports'])
    .where('domain_id', '=', domain_id)
    .orderBy('day', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (last === undefined) return null;
  const ofDay = tx
    .selectFrom('report')
    .select('received_at')
    .where('domain_id', '=', domain_id)
    .where('seq', '<>', seq)
    .where('received_at', '>=', `${last.day}T00:00:00Z`)
    .orderBy('position', 'desc')
    .limit(last.reports)
    .as('of_day');
  const { newest } = await tx
    .selectFrom(ofDay)
    .select(({ fn }) => fn.max('received_at').as('newest'))
    .executeTakeFirstOrThrow();
  return newest;
}

function later(a: Instant | null, b: Instant | null): Instant | null {
  if (a === null || b === null) return a ?? b;
  return a > b ? a : b;
}

async function shortenReportList(tx: Tx, domainId: string): Promise<void> {
  await tx
    .updateTable('domain')
    .set((eb) => ({ reports_total: eb('reports_total', '-', 1), reports_version: newVersion() }))
    .where('id', '=', domainId)
    .execute();
}
