import { type Day, type Instant, toDay } from '../../domain/instant.ts';
import type { SourceTally } from '../../domain/reports/aggregate-report.ts';
import { addSafely } from '../../domain/safe-sum.ts';
import {
  insertReportedDomains,
  lockReportedDomains,
  type ReportedDomain,
} from '../accounts/reported-domains.ts';
import type { Tx } from '../engine/database.ts';
import { addSources, type SourcesOfDay } from '../sources/days/source-ips.ts';
import { SourceTexts } from '../sources/days/texts.ts';

interface ArrivedReport {
  readonly reporter_org: string | null;
  readonly begin_date: Instant;
  readonly total_messages: number;
  readonly aligned_messages: number;
}

/** What the counts of one day and of one domain cost to write, in rows of source addresses. */
export const DAY_COST = 4;
export const DOMAIN_COST = 25;

/** What came to a day. */
export interface DayCount {
  reports: number;
  messages: number;
  aligned: number;
  readonly sources: SourcesOfDay;
}

/** What came to a domain. */
export interface Arrived {
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
    this.#keep(await lockReportedDomains(tx, [...names]));
  }

  /** The domains with these names, by name. Unknown ones are inserted as unclaimed. */
  async findDomains(tx: Tx, names: Iterable<string>): Promise<Map<string, ReportedDomain>> {
    const all = [...names];
    const unknown = all.filter((name) => !this.#domains.has(name)).map((name) => ({ name }));
    this.#keep(await insertReportedDomains(tx, unknown, this.receivedAt));
    return new Map(all.map((name) => [name, this.#domains.get(name) as ReportedDomain]));
  }

  #keep(domains: readonly ReportedDomain[]): void {
    for (const domain of domains) this.#domains.set(domain.name, domain);
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
