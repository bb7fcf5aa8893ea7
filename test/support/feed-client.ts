import type { Start } from '../../src/domain/cursor.ts';
import type { Reader } from '../../src/store/engine/reader.ts';
import { type Change, readFeed } from '../../src/store/feed/feed.ts';
import type { ReportOfAccountRow } from '../../src/store/reports/reports.ts';
import type { TlsReportRow } from '../../src/store/reports/tls-reports.ts';

/** A client that follows an account's changes from their beginning, and puts and deletes by id. */
export class FeedClient {
  readonly reports = new Map<string, ReportOfAccountRow>();
  readonly tlsReports = new Map<string, TlsReportRow>();
  /** Those that are listed. */
  readonly domains = new Set<string>();
  readonly #reader: Reader;
  readonly accountId: string;
  readonly #limit: number;
  #start: Start = 'start';

  constructor(reader: Reader, accountId: string, limit = 200) {
    this.#reader = reader;
    this.accountId = accountId;
    this.#limit = limit;
  }

  /** Until nothing is new. */
  async follow(): Promise<void> {
    for (let hasMore = true; hasMore; ) {
      const wanted = {
        accountId: this.accountId,
        start: this.#start,
        limit: this.#limit,
        hasTls: true,
      };
      const page = await readFeed(this.#reader, wanted);
      if (page === undefined) throw new Error('The cursor’s change is not known.');
      for (const item of page.items) this.#apply(JSON.parse(item));
      this.#start = page.cursor;
      hasMore = page.hasMore;
    }
  }

  #apply({ type, domain_id, report, report_id, ...tls }: Change): void {
    if (tls.tls_report !== undefined) this.tlsReports.set(tls.tls_report.id, tls.tls_report);
    if (tls.tls_report_id !== undefined) this.tlsReports.delete(tls.tls_report_id);
    if (report !== undefined) this.reports.set(report.id, report);
    if (report_id !== undefined) this.reports.delete(report_id);
    if (type === 'domain.listed') this.domains.add(domain_id);
    if (type === 'domain.unlisted' || type === 'domain.removed') this.#drop(domain_id);
  }

  #drop(domainId: string): void {
    this.domains.delete(domainId);
    for (const list of [this.reports, this.tlsReports])
      for (const { id, domain_id } of list.values()) if (domain_id === domainId) list.delete(id);
  }
}
