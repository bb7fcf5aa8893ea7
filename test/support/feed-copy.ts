import { expect } from 'vitest';
import { type Answer, walk } from './api.ts';

type Get = (path: string) => Promise<Answer>;

interface Item {
  readonly id: string;
  readonly domain_id: string;
}

interface Report extends Item {
  readonly record_count: number;
  readonly records: readonly unknown[];
  readonly unlisted_records: number;
}

interface Change {
  readonly type: string;
  readonly domain_id: string;
  readonly report?: Report;
  readonly report_id?: string;
  readonly tls_report?: Item;
  readonly tls_report_id?: string;
  readonly domain?: Item;
  readonly alert?: Item;
}

/** What a client has of an account that follows `/v1/external/changes` by the words of the contract alone. */
export class FeedCopy {
  readonly domains = new Map<string, Item>();
  readonly reports = new Map<string, Report>();
  readonly alerts = new Map<string, Item>();
  /** Where it asks for them. */
  readonly tlsReports = new Map<string, Item>();
  readonly #include: string;
  /** All changes that it met, in their order. */
  readonly met: Change[] = [];
  begunAgain = 0;
  cursor = 'start';

  constructor(include: 'records' | 'records,tls' = 'records') {
    this.#include = include;
  }

  /** One request. Returns whether another one has to follow at once. */
  async ask(get: Get, limit = 200): Promise<boolean> {
    const { status, body, headers } = await get(
      `/v1/external/changes?include=${this.#include}&limit=${limit}&after=${this.cursor}`,
    );
    if (status === 410) return this.#beginAgain();
    expect(status).toBe(200);
    if (body.has_more) expect(body.data).toHaveLength(limit);
    for (const change of body.data) this.#apply(change);
    this.met.push(...body.data);
    this.cursor = headers['plumbline-cursor'] as string;
    return body.has_more;
  }

  async finish(get: Get, limit?: number): Promise<void> {
    while (await this.ask(get, limit));
  }

  /** Whether it has what the lists have. Nothing tells it when the last report of a domain came. */
  async hold(get: Get, isHeld: (report: Item) => boolean = () => true): Promise<void> {
    const held = [...this.reports.values()].filter(isHeld);
    const reports = held.map(({ records, unlisted_records, ...report }) => report);
    expect({
      domains: toDomains(this.domains.values()),
      reports: byId(reports),
      alerts: byId(this.alerts.values()),
    }).toEqual({
      domains: toDomains(await readWhole(get, 'domains')),
      reports: byId((await readWhole(get, 'reports')).filter(isHeld)),
      alerts: byId(await readWhole(get, 'alerts')),
    });
    for (const report of held) await holdRecords(get, report);
    const tls = [];
    for (const { id } of this.#include === 'records' ? [] : this.domains.values())
      tls.push(...(await readWhole(get, `domains/${id}/tls-reports`)));
    expect(byId([...this.tlsReports.values()].filter(isHeld))).toEqual(byId(tls.filter(isHeld)));
  }

  #apply(change: Change): void {
    const { type, domain_id, report, report_id = '', domain, alert } = change;
    const { tls_report, tls_report_id = '' } = change;
    if (tls_report !== undefined) this.tlsReports.set(tls_report.id, tls_report);
    this.tlsReports.delete(tls_report_id);
    if (domain !== undefined) this.domains.set(domain.id, domain);
    if (report !== undefined) {
      // A database with foreign keys would refuse it.
      expect([...this.domains.keys()]).toContain(report.domain_id);
      this.reports.set(report.id, report);
    }
    if (alert !== undefined) this.alerts.set(alert.id, alert);
    this.reports.delete(report_id);
    if (type === 'domain.unlisted' || type === 'domain.removed') {
      this.domains.delete(domain_id);
      drop(this.reports, domain_id);
      drop(this.tlsReports, domain_id);
    }
    if (type === 'domain.removed') drop(this.alerts, domain_id);
  }

  #beginAgain(): true {
    for (const list of [this.domains, this.reports, this.alerts, this.tlsReports]) list.clear();
    this.cursor = 'start';
    this.begunAgain += 1;
    return true;
  }
}

/** A report has the records that its own list has, of the same revision. */
async function holdRecords(get: Get, report: Report & { revision?: number }): Promise<void> {
  const { id, domain_id, record_count, records, unlisted_records, revision } = report;
  const path = `/v1/external/domains/${domain_id}/reports/${id}/records?limit=200`;
  const { body } = await get(path);
  expect(body).toEqual({ data: records, total: records.length, revision });
  expect(unlisted_records).toBe(record_count - records.length);
}

function drop(list: Map<string, Item>, domainId: string): void {
  for (const { id, domain_id } of list.values()) if (domain_id === domainId) list.delete(id);
}

async function readWhole(get: Get, list: string): Promise<Item[]> {
  const { items, totals } = await walk(get, `/v1/external/${list}`, 200);
  expect([...totals]).toEqual([items.length]);
  return items as Item[];
}

const byId = (items: Iterable<Item>): Map<string, Item> =>
  new Map([...items].map((item) => [item.id, item]));

const toDomains = (items: Iterable<Item>): Map<string, Item> =>
  byId([...items].map((item) => ({ ...item, last_report_at: undefined })));
