import { type Day, type Instant, toDay } from '../../domain/instant.ts';
import type { PolicyPublished, SourceTally } from '../../domain/reports/aggregate-report.ts';
import {
  insertReportedDomains,
  lockReportedDomains,
  type ReportedDomain,
} from '../accounts/reported-domains.ts';
import type { Tx } from '../engine/database.ts';
import { newNonce } from '../lists/points.ts';
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

interface ArrivedContent {
  readonly sources?: readonly SourceTally[] | undefined;
  readonly policyPublished: PolicyPublished;
  readonly bytes: number;
}

/** What days count of a report. */
export type CountedReport = ArrivedReport & Omit<ArrivedContent, 'bytes'>;

export interface DomainArrivals {
  /** The domain as it was when it was locked. */
  readonly domain: ReportedDomain;
  readonly days: Map<Day, CountedReport[]>;
  reports: number;
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
 * The reports that one transaction stores, by domain and day, so that each count and each head is written once, whatever
 * the number of reports.
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

  add(domain: ReportedDomain, report: ArrivedReport, { bytes, ...content }: ArrivedContent): void {
    const added = this.#findAdded(domain);
    const { days } = added;
    added.reports += 1;
    added.bytes += bytes;
    const day = toDay(report.begin_date);
    const ofDay = days.get(day);
    const counted = { ...report, ...content };
    if (ofDay === undefined) days.set(day, [counted]);
    else ofDay.push(counted);
    this.countCost += (ofDay === undefined ? DAY_COST : 0) + (content.sources?.length ?? 0);
  }

  #findAdded(domain: ReportedDomain): DomainArrivals {
    const known = this.#added.get(domain.id);
    if (known !== undefined) return known;
    const added = { domain, days: new Map(), reports: 0, bytes: 0 };
    this.#added.set(domain.id, added);
    this.countCost += DOMAIN_COST;
    return added;
  }
}
