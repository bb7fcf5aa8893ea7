import type { Receipts } from '../../domain/alerts/reports-missing.ts';
import { addDays, type Instant, toDay } from '../../domain/instant.ts';
import { type Doubt, isReportInView, type View } from '../../domain/reports/authentication.ts';
import { sortFirst } from '../../domain/sort.ts';
import { IS_DMARC } from '../days/believed.ts';
import { ORDER_OF_ARRIVAL } from '../days/views.ts';
import { type Param, prepareQuery } from '../engine/prepared.ts';
import { ask, type Plan } from '../engine/reader.ts';
import { isOfDomain } from '../lists/heads.ts';

interface ReceiptsQuery {
  readonly domainId: string;
  readonly view: View;
  /** How many days up to the last receipt are looked at. */
  readonly windowDays: number;
}

/** So many are read at once, and at most: who sends more in a few days is not silent. */
const REPORTS_AT_ONCE = 500;
const MAX_REPORTS = 5_000;

/**
 * When the reports of a view came in, by the newest ones of the domain. When there is none of the view among these, the
 * last one was received before the oldest of them: then that moment is taken, and an alert fires a little later.
 */
export function* planReceipts(query: ReceiptsQuery): Plan<Receipts> {
  const { domainId, view, windowDays } = query;
  const read: ReceivedReport[] = [];
  for (let before = Number.MAX_SAFE_INTEGER; read.length < MAX_REPORTS; ) {
    const reports = yield* ask(newestReports({ domainId, before }));
    read.push(...reports);
    const next = reports[REPORTS_AT_ONCE - 1];
    const receipts = toReceipts(read, view);
    if (next === undefined) return receipts;
    const { lastReportAt: last } = receipts;
    if (last !== null && toDay(next.received_at) <= addDays(toDay(last), -windowDays))
      return receipts;
    before = next.place;
  }
  const { lastReportAt, receipts } = toReceipts(read, view);
  return { receipts, lastReportAt: lastReportAt ?? read.at(-1)?.received_at ?? null };
}

function toReceipts(reports: readonly ReceivedReport[], view: View): Receipts {
  const ofView = reports.filter(({ doubt }) => isReportInView(view, doubt));
  const byDay = Map.groupBy(ofView, ({ received_at }) => toDay(received_at));
  const receipts = [...byDay].map(([day, some]) => ({ day, reports: some.length }));
  const last = sortFirst(ofView, (a, b) => (a.received_at > b.received_at ? -1 : 1), 1);
  return {
    lastReportAt: last[0]?.received_at ?? null,
    receipts: receipts.sort((a, b) => (a.day < b.day ? -1 : 1)),
  };
}

interface ReceivedReport {
  readonly received_at: Instant;
  readonly doubt: Doubt | null;
  readonly place: number;
}

/** @internal A test reads its query plan. */
export const newestReports = prepareQuery(
  (db, param: Param<{ domainId: string; before: number }>) =>
    db
      .selectFrom('report')
      .select(['received_at', 'doubt', `${ORDER_OF_ARRIVAL} as place`])
      .where(isOfDomain(param('domainId')))
      .where(ORDER_OF_ARRIVAL, '<', param('before'))
      .where(IS_DMARC)
      .orderBy(ORDER_OF_ARRIVAL, 'desc')
      .limit(REPORTS_AT_ONCE),
);
