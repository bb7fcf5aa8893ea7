import { type Day, type Instant, toDay } from '../../domain/instant.ts';
import type { SourceTally } from '../../domain/reports/aggregate-report.ts';
import { addSafely } from '../../domain/safe-sum.ts';
import {
  findOrInsertDomain,
  lockReportedDomains,
  type ReportedDomain,
} from '../accounts/domains.ts';
import type { Tx } from '../connection/database.ts';
import { prepareQuery, runAllPrepared } from '../connection/prepared.ts';
import { addedSafely } from '../connection/safe-sum.ts';
import { newVersion, touchDomainList } from '../lists/heads.ts';
import { insertPoint, newMark } from '../lists/points.ts';
import { countItems, reportList } from '../lists/timeline.ts';
import { addSources, countSources, type SourcesOfDay } from './source-ips.ts';
import { SourceTexts } from './source-texts.ts';

interface ArrivedReport {
  readonly reporter_org: string | null;
  readonly begin_date: Instant;
  readonly total_messages: number;
  readonly aligned_messages: number;
}

/** What the counts of one day and of one domain cost to write, in rows of source addresses. */
export const DAY_COST = 4;
export const DOMAIN_COST = 25;

interface DayCount {
  reports: number;
  messages: number;
  aligned: number;
  readonly sources: SourcesOfDay;
}

interface Arrived {
  readonly days: Map<Day, DayCount>;
  readonly texts: SourceTexts;
}

/**
 * The reports that one transaction stores, added up by domain and day while they are stored, so that each
 * count and each head is written once, whatever the number of reports.
 */
export class Arrivals {
  readonly receivedAt: Instant;
  readonly byDomain = new Map<ReportedDomain, Arrived>();
  readonly #domains = new Map<string, ReportedDomain>();
  readonly #added = new Map<ReportedDomain, number>();
  /** What the counts will cost to write, in rows of source addresses. */
  countCost = 0;

  constructor(receivedAt: Instant) {
    this.receivedAt = receivedAt;
  }

  /** Locks the known domains with these names. The others are locked when they are inserted. */
  async lockDomains(tx: Tx, names: ReadonlySet<string>): Promise<void> {
    for (const { name, ...domain } of await lockReportedDomains(tx, [...names]))
      this.#domains.set(name, domain);
  }

  /** The domain with this name, inserted as unclaimed when it is unknown. */
  async findDomain(tx: Tx, name: string): Promise<ReportedDomain> {
    const domain = this.#domains.get(name) ?? (await findOrInsertDomain(tx, name, this.receivedAt));
    this.#domains.set(name, domain);
    return domain;
  }

  /** The position of the next report of a domain in the order of arrival (lists/points.ts). */
  nextPosition(domain: ReportedDomain): number {
    return Number(domain.position) + (this.#added.get(domain) ?? 0) + 1;
  }

  add(domain: ReportedDomain, report: ArrivedReport, sources: readonly SourceTally[] = []): void {
    const arrived = this.#findArrived(domain);
    const { days, texts } = arrived;
    const day = toDay(report.begin_date);
    if (!days.has(day)) this.countCost += DAY_COST;
    const count = days.get(day) ?? { reports: 0, messages: 0, aligned: 0, sources: new Map() };
    count.reports += 1;
    count.messages = addSafely(count.messages, report.total_messages);
    count.aligned = addSafely(count.aligned, report.aligned_messages);
    const before = texts.size;
    addSources(count.sources, sources, texts.ofReport(day, report.reporter_org));
    this.countCost += sources.length + texts.size - before;
    days.set(day, count);
    this.#added.set(domain, (this.#added.get(domain) ?? 0) + 1);
  }

  #findArrived(domain: ReportedDomain): Arrived {
    const known = this.byDomain.get(domain);
    if (known !== undefined) return known;
    const arrived = { days: new Map(), texts: new SourceTexts() };
    this.byDomain.set(domain, arrived);
    this.countCost += DOMAIN_COST;
    return arrived;
  }
}

/** Writes the days, the page positions and the heads of every list that the reports have changed. */
export async function countArrivals(tx: Tx, arrivals: Arrivals): Promise<void> {
  const { byDomain, receivedAt } = arrivals;
  // Accounts are locked after all domains, and in order.
  const accountIds = new Set<string>();
  for (const [domain, arrived] of byDomain) {
    const reports = new Map([...arrived.days].map(([day, count]) => [day, count.reports]));
    await countDays(tx, domain.id, arrived);
    await countItems(tx, reportList(domain.id), reports);
    await advanceReportList(tx, domain, sum(reports.values()));
    await countReceipts(tx, domain.id, { receivedAt, reports: sum(reports.values()) });
    if (await updateLastReport(tx, domain, receivedAt)) accountIds.add(domain.accountId ?? '');
  }
  for (const accountId of [...accountIds].sort()) await touchDomainList(tx, accountId);
}

function sum(counts: Iterable<number>): number {
  return Iterator.from(counts).reduce((total, count) => total + count, 0);
}

async function countDays(tx: Tx, domainId: string, { days, texts }: Arrived): Promise<void> {
  const upserts = [...days].map(([day, { sources, ...counts }]) =>
    dayUpsert({ domainId, day, ...counts, sources: sources.size }),
  );
  const stored = await runAllPrepared(tx, upserts);
  const counts = [...days].map(([day, { sources, reports }], i) => ({
    domainDay: { domainId, day },
    sources,
    atMost: Number(stored[i]?.[0]?.sources),
    reports: [Number(stored[i]?.[0]?.reports) - reports, Number(stored[i]?.[0]?.reports)] as const,
  }));
  await countSources(tx, domainId, { days: counts, texts });
}

type DayUpsert = {
  domainId: string;
  day: Day;
  reports: number;
  messages: number;
  aligned: number;
  sources: number;
};

const dayUpsert = prepareQuery<DayUpsert, { reports: number; sources: number }>((db, param) =>
  db
    .insertInto('domain_day')
    .values({
      domain_id: param('domainId'),
      day: param('day'),
      reports: param('reports'),
      messages: param('messages'),
      aligned: param('aligned'),
      sources: param('sources'),
    })
    .onConflict((oc) =>
      oc.columns(['domain_id', 'day']).doUpdateSet((eb) => ({
        reports: eb('domain_day.reports', '+', eb.ref('excluded.reports')),
        messages: addedSafely('domain_day.messages', 'excluded.messages'),
        aligned: addedSafely('domain_day.aligned', 'excluded.aligned'),
        sources: eb('domain_day.sources', '+', eb.ref('excluded.sources')),
      })),
    )
    .returning(['reports', 'sources']),
);

/** When reports came in, whatever they cover: `alert.reports_missing` needs these times. */
async function countReceipts(
  tx: Tx,
  domainId: string,
  { receivedAt, reports }: { receivedAt: Instant; reports: number },
): Promise<void> {
  await tx
    .insertInto('domain_receipt')
    .values({ domain_id: domainId, day: toDay(receivedAt), reports })
    .onConflict((oc) =>
      oc
        .columns(['domain_id', 'day'])
        .doUpdateSet((eb) => ({ reports: eb('domain_receipt.reports', '+', reports) })),
    )
    .execute();
}

/** Updates the head of a domain's list of reports: a new version, a longer list, and its newest point. */
async function advanceReportList(
  tx: Tx,
  { id, position: before }: ReportedDomain,
  added: number,
): Promise<void> {
  const point = { position: Number(before) + added, mark: newMark() };
  await tx
    .updateTable('domain')
    .set((eb) => ({
      reports_total: eb('reports_total', '+', added),
      reports_version: newVersion(),
      reports_position: point.position,
      reports_mark: point.mark,
    }))
    .where('id', '=', id)
    .execute();
  await insertPoint(tx, reportList(id), point);
}

/** Returns whether a list of domains shows a difference: reports of the same second have the same instant. */
async function updateLastReport(
  tx: Tx,
  { id, accountId, status, lastReportAt }: ReportedDomain,
  receivedAt: Instant,
): Promise<boolean> {
  if (lastReportAt !== null && lastReportAt >= receivedAt) return false;
  await tx.updateTable('domain').set({ last_report_at: receivedAt }).where('id', '=', id).execute();
  return accountId !== null && status === 'active';
}
