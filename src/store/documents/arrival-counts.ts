import { type Day, toDay } from '../../domain/instant.ts';
import type { ReportedDomain } from '../accounts/reported-domains.ts';
import type { Tx } from '../engine/database.ts';
import { runListsPrepared } from '../engine/prepared.ts';
import { itemUpserts, reportList } from '../lists/timeline.ts';
import { boundSources, type CountedDay, toSourceUpserts } from '../sources/days/source-ips.ts';
import { boundTexts, type SourceTexts, textInserts } from '../sources/days/texts.ts';
import { toStaleThirds } from '../sources/periods.ts';
import { toHeadUpdates } from './arrival-heads.ts';
import type { Arrivals, Arrived, DayCount } from './arrivals.ts';
import { dayUpserts, type NewDay, receiptUpserts, type StoredDay } from './day-rows.ts';

/**
 * Writes the days, the page positions and the heads of every list that the reports have changed, with the same
 * statements for all domains. The domains are locked; accounts are locked after them.
 */
export async function countArrivals(tx: Tx, { byDomain, receivedAt }: Arrivals): Promise<void> {
  const domains = [...byDomain].map(toArrivedDomain);
  const days = domains.flatMap(({ days }) => days);
  const day = toDay(receivedAt);
  const { stored, texts } = await runListsPrepared(tx, {
    stored: dayUpserts(days.map(toRow)),
    sources: toSourceUpserts(days),
    stale: toStaleThirds(days),
    texts: textInserts(domains.flatMap(({ domain, texts }) => texts.toRows(domain.id))),
    items: itemUpserts(days.map(toItems)),
    receipts: receiptUpserts(
      domains.map(({ domain, reports }) => ({ domain_id: domain.id, day, reports })),
    ),
    heads: toHeadUpdates(domains, receivedAt),
  });
  await boundTexts(tx, texts);
  await boundSources(tx, toCountedDays(days, stored));
}

interface ArrivedDay extends DayCount {
  readonly domainId: string;
  readonly day: Day;
}

interface ArrivedDomain {
  readonly domain: ReportedDomain;
  readonly days: readonly ArrivedDay[];
  readonly texts: SourceTexts;
  /** How many came. */
  readonly reports: number;
}

function toArrivedDomain([domain, { days, texts }]: readonly [
  ReportedDomain,
  Arrived,
]): ArrivedDomain {
  const all = [...days].map(([day, count]) => ({ domainId: domain.id, day, ...count }));
  return { domain, days: all, texts, reports: all.reduce((sum, { reports }) => sum + reports, 0) };
}

function toRow({ domainId, day, reports, messages, aligned, sources }: ArrivedDay): NewDay {
  return { domain_id: domainId, day, reports, messages, aligned, sources: sources.size };
}

function toItems({ domainId, day, reports }: ArrivedDay) {
  return { listId: reportList(domainId), day, items: reports };
}

/** An engine returns the rows of a statement in any order. */
function toCountedDays(days: readonly ArrivedDay[], stored: readonly StoredDay[]): CountedDay[] {
  const byKey = new Map(stored.map((row) => [`${row.domain_id} ${row.day}`, row]));
  return days.map(({ domainId, day, reports }) => {
    const row = byKey.get(`${domainId} ${day}`) as StoredDay;
    const after = Number(row.reports);
    return { domainId, day, atMost: Number(row.sources), reports: [after - reports, after] };
  });
}
