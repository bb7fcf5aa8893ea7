import { type RawBuilder, sql } from 'kysely';
import { type Day, type Instant, toDay } from '../../domain/instant.ts';
import { unpackContent } from '../../domain/reports/report-content.ts';
import { countSources } from '../../domain/reports/source-counts.ts';
import { addReport, type DaySources, subtractDay } from '../../domain/sources/day-sources.ts';
import { isIntact, packSources, unpackSources } from '../../domain/sources/packed-sources.ts';
import { sourcesOfDay } from '../documents/arrival-counts.ts';
import type { Tx } from '../engine/database.ts';
import { runPrepared } from '../engine/prepared.ts';
import { newVersion } from '../lists/heads.ts';
import { insertGaps, insertPoint } from '../lists/points.ts';
import { reportList } from '../lists/timeline.ts';
import { deleteMonth } from '../sources/months.ts';
import { correctLastReport } from './last-report.ts';
import type { ReportRow } from './rows.ts';

/* Subtracts one report from every count that arrival-counts.ts adds it to, for corrections by an operator. */

interface DomainDay {
  readonly domainId: string;
  readonly day: Day;
}

/**
 * `report` is the row as it was counted. The stored row must be deleted before this is called, or be exchanged for
 * what came in at `replacedAt`.
 */
export async function uncountReport(
  tx: Tx,
  report: ReportRow,
  replacedAt: Instant | null,
): Promise<void> {
  const at = { domainId: report.domain_id, day: toDay(report.begin_date) };
  await uncountDay(tx, at, report);
  await uncountSources(tx, at, report);
  await deleteMonth(tx, at);
  await uncountReceipt(tx, report);
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
  const { total_messages: messages, aligned_messages: aligned } = report;
  const counted = await tx
    .updateTable('domain_day')
    .set((eb) => ({
      reports: eb('reports', '-', 1),
      messages: withoutReport(report, { sum: 'messages', of: 'total_messages', by: messages }),
      aligned: withoutReport(report, { sum: 'aligned', of: 'aligned_messages', by: aligned }),
    }))
    .where('domain_id', '=', domainId)
    .where('day', '=', day)
    .returning('reports')
    .executeTakeFirst();
  if (counted === undefined || counted.reports > 0) return;
  const none = tx.deleteFrom('domain_day').where('domain_id', '=', domainId);
  await none.where('day', '=', day).execute();
}

interface DayColumn {
  readonly sum: 'messages' | 'aligned';
  readonly of: 'total_messages' | 'aligned_messages';
  readonly by: number;
}

/**
 * A day's sum without one report. A sum that stopped at 2^53 − 1 does not include all that was added, so subtracting
 * from it is wrong: the sum is computed again from the day's other reports.
 */
function withoutReport(report: ReportRow, { sum, of, by }: DayColumn): RawBuilder<number> {
  const [column, max] = [sql.ref(sum), sql.lit(Number.MAX_SAFE_INTEGER)];
  const total = sql`coalesce(sum(${sql.ref(of)}), 0)`;
  const day = toDay(report.begin_date);
  const others = sql`(
    select case when ${total} > ${max} then ${max} else ${total} end from report
    where domain_id = ${report.domain_id} and seq <> ${report.seq}
      and begin_date >= ${day} and begin_date <= ${`${day}T23:59:59Z`})`;
  return sql<number>`case when ${column} >= ${max} then ${others} else ${column} - ${by} end`;
}

/** A count may be too small, and is never too large or negative. What is damaged stays so until it is read or added to. */
async function uncountSources(tx: Tx, { domainId, day }: DomainDay, report: ReportRow) {
  const [stored = null] = await runPrepared(tx, sourcesOfDay({ domainId, day }));
  if (!isIntact(stored)) return;
  const sources = unpackSources(stored);
  const departed: DaySources = new Map();
  const { records } = unpackContent(report.content);
  addReport(departed, { reporter: report.reporter_org, sources: countSources(records) });
  subtractDay(sources, departed);
  await tx
    .updateTable('domain_day')
    .set({ sources: packSources(sources) })
    .where('domain_id', '=', domainId)
    .where('day', '=', day)
    .execute();
}

async function uncountReceipt(tx: Tx, { domain_id, received_at }: ReportRow): Promise<void> {
  const day = toDay(received_at);
  const receipts = tx.updateTable('domain_receipt').where('domain_id', '=', domain_id);
  await receipts.set({ reports: sql<number>`reports - 1` }).where('day', '=', day).execute();
  const none = tx.deleteFrom('domain_receipt').where('domain_id', '=', domain_id);
  await none.where('day', '=', day).where('reports', '<=', 0).execute();
}

async function shortenReportList(tx: Tx, domainId: string): Promise<void> {
  await tx
    .updateTable('domain')
    .set((eb) => ({ reports_total: eb('reports_total', '-', 1), reports_version: newVersion() }))
    .where('id', '=', domainId)
    .execute();
}
