import { toPolicyTags } from '../../domain/dns/dns-record.ts';
import { type Day, type Instant, toDay } from '../../domain/instant.ts';
import type { PolicyPublished, SourceTally } from '../../domain/reports/aggregate-report.ts';
import { isInView, VIEWS, type View } from '../../domain/reports/authentication.ts';
import { addSafely } from '../../domain/safe-sum.ts';
import { addReport, type DaySources } from '../../domain/sources/day-sources.ts';
import {
  insertReportedDomains,
  lockReportedDomains,
  type ReportedDomain,
} from '../accounts/reported-domains.ts';
import type { Tx } from '../engine/database.ts';
import { newNonce } from '../lists/points.ts';
import { findReporterName } from '../reports/report-row.ts';
import type { Tables } from '../tables.ts';

type ArrivedReport = Pick<
  Tables['report'],
  | 'reporter_org'
  | 'reporter_email'
  | 'begin_date'
  | 'total_messages'
  | 'aligned_messages'
  | 'authenticated'
>;

/** What the counts of a day and of a domain cost to write, in source addresses of a report. */
export const DAY_COST = 12;
export const DOMAIN_COST = 25;

export interface ReportSum {
  reports: number;
  messages: number;
  aligned: number;
  readonly sources: DaySources;
}

/** What reports of one transaction add to a day of a domain. */
export interface DayCount extends ReportSum {
  /** Of the last report that states one: see stated-policy.ts. */
  policy: string | null;
  /** What of it the views of alerts do not count. */
  readonly hidden: Map<View, ReportSum>;
}

const NOTHING = { reports: 0, messages: 0, aligned: 0 };

interface ArrivedContent {
  readonly sources?: readonly SourceTally[] | undefined;
  readonly policyPublished: PolicyPublished;
  readonly bytes: number;
}

export interface DomainArrivals {
  /** The domain as it was when it was locked. */
  readonly domain: ReportedDomain;
  readonly days: Map<Day, DayCount>;
  reports: number;
  /** Those of no established reporter. */
  doubtful: number;
  /** Of all that is stored of the reports. */
  bytes: number;
}

/** A conflict takes space as long as its report. */
interface ConflictBytes {
  readonly domainId: string;
  /** On which the report was received. */
  readonly day: Day;
  readonly bytes: number;
}

/**
 * The reports that one transaction stores, added up by domain and day while they are stored, so that each
 * count and each head is written once, whatever the number of reports.
 */
export class Arrivals {
  readonly receivedAt: Instant;
  /** Of the positions that the transaction gives (lists/points.ts). */
  readonly nonce = newNonce();
  /** By the id of the domain. */
  readonly #added = new Map<string, DomainArrivals>();
  /** The locked domains by name. */
  readonly #domains = new Map<string, ReportedDomain>();
  readonly conflicts: ConflictBytes[] = [];
  countCost = 0;

  constructor(receivedAt: Instant) {
    this.receivedAt = receivedAt;
  }

  /** The domains that reports were added to. */
  get byDomain(): readonly DomainArrivals[] {
    return [...this.#added.values()];
  }

  /** Locks the known domains with these names. The others are locked when they are inserted. */
  async lockDomains(tx: Tx, names: ReadonlySet<string>): Promise<void> {
    this.#keep(await lockReportedDomains(tx, [...names]));
  }

  /** The domains by name. Unknown ones are inserted as unclaimed. */
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
  nextPosition({ id, position }: ReportedDomain): number {
    return position + (this.#added.get(id)?.reports ?? 0) + 1;
  }

  add(
    domain: ReportedDomain,
    report: ArrivedReport,
    { sources = [], policyPublished, bytes }: ArrivedContent,
  ): void {
    const added = this.#findAdded(domain);
    const { days } = added;
    added.reports += 1;
    added.bytes += bytes;
    const day = toDay(report.begin_date);
    if (!days.has(day)) this.countCost += DAY_COST;
    const count = days.get(day) ?? {
      ...NOTHING,
      policy: null,
      sources: new Map(),
      hidden: new Map(),
    };
    days.set(day, count);
    addTo(count, report, sources);
    this.countCost += sources.length;
    if (isInView('established', report.authenticated)) {
      count.policy = toPolicyTags(policyPublished) ?? count.policy;
      return;
    }
    added.doubtful += 1;
    for (const view of VIEWS.filter((view) => !isInView(view, report.authenticated))) {
      const hidden = count.hidden.get(view) ?? { ...NOTHING, sources: new Map() };
      count.hidden.set(view, hidden);
      addTo(hidden, report, sources);
    }
  }

  #findAdded(domain: ReportedDomain): DomainArrivals {
    const known = this.#added.get(domain.id);
    if (known !== undefined) return known;
    const added = { domain, days: new Map(), reports: 0, doubtful: 0, bytes: 0 };
    this.#added.set(domain.id, added);
    this.countCost += DOMAIN_COST;
    return added;
  }
}

function addTo(sum: ReportSum, report: ArrivedReport, sources: readonly SourceTally[]): void {
  sum.reports += 1;
  sum.messages = addSafely(sum.messages, report.total_messages);
  sum.aligned = addSafely(sum.aligned, report.aligned_messages);
  addReport(sum.sources, { reporter: findReporterName(report), sources });
}
