import { toPolicyTags } from '../../domain/dns/dns-record.ts';
import { toBytes, toHex } from '../../domain/hex.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Warning } from '../../domain/reports/aggregate-report.ts';
import { type MailProof, toTrust } from '../../domain/reports/authentication.ts';
import { domainOf, isTls, type Report } from '../../domain/reports/report.ts';
import { toReportId } from '../../domain/reports/report-identity.ts';
import type { WarningCode } from '../../domain/reports/warning-texts.ts';
import { type DocumentPlace, toInputHash } from '../documents/document-rows.ts';
import type { Queries, Tx } from '../engine/database.ts';
import { runAllPrepared } from '../engine/prepared.ts';
import { selectConflicts } from './conflicts.ts';
import { type Arrived, type NewRow, toParsedRow } from './report-row.ts';
import { knownReports, removedPayloads } from './report-rows.ts';
import {
  insertReportedDomains,
  lockReportedDomains,
  type ReportedDomain,
} from './reported-domains.ts';
import type { Owned } from './senders.ts';

/**
 * `unclaimed`: stored for a domain that nobody has registered. `conflict`: other content, with the identity of a
 * stored report. `removed`: not stored, because an operator removed the same content before.
 */
export type ReportOutcome = 'stored' | 'unclaimed' | 'duplicate' | 'conflict' | 'removed';

/** What becomes of a report. */
export interface PlannedReport {
  readonly outcome: ReportOutcome;
  /** A content that is new; undefined when nothing but its arrival is stored. */
  readonly added?: NewContent;
}

export interface ArrivingReport {
  readonly report: Report;
  /** What is stored of its sender. */
  readonly proof: MailProof;
  readonly place: Pick<DocumentPlace, 'input' | 'path'>;
}

export interface NewContent {
  /** What it states, as tags of a DMARC record; null when that is nothing. */
  readonly policy: string | null;
  readonly domain: ReportedDomain;
  readonly row: Omit<NewRow, keyof Arrived>;
}

/**
 * Decides what becomes of the reports of one transaction. The first report of an identity is kept; later content never
 * changes it. Which are known is read under the locks of their domains, and is what was planned before in the transaction.
 */
export class Planning {
  readonly #receivedAt: Instant;
  /** The locked domains by name. */
  readonly #domains = new Map<string, ReportedDomain>();
  /** The hashes of contents, by the report's id. */
  readonly #reports = new Map<string, string>();
  /** The ids of those whose content another stored report has, and the first id that was planned for each content. */
  readonly #repeated = new Set<string>();
  readonly #ids = new Map<string, string>();
  readonly #conflicts = new Map<string, Set<string>>();

  constructor(receivedAt: Instant) {
    this.#receivedAt = receivedAt;
  }

  /** Locks the known domains with these names. The others are locked when they are inserted. */
  async lockDomains(tx: Tx, names: ReadonlySet<string>): Promise<void> {
    this.#keep(await lockReportedDomains(tx, [...names]));
  }

  /** The domain with this name, when an account has it. */
  findOwned(name: string): Owned | undefined {
    const { id = '', accountId = null } = this.#domains.get(name) ?? {};
    return accountId === null ? undefined : { id, accountId, name };
  }

  #keep(domains: readonly ReportedDomain[]): void {
    for (const domain of domains) this.#domains.set(domain.name, domain);
  }

  async plan(tx: Tx, reports: readonly ArrivingReport[]): Promise<PlannedReport[]> {
    const all = reports.map((one) => ({ ...one, id: toReportId(one.report) }));
    const removed = await listRemoved(tx, all);
    const kept = all.filter((one) => !removed.has(toKey(one)));
    await this.#insertDomains(tx, new Set(kept.map(({ report }) => domainOf(report))));
    const contents = new Map(kept.map((one) => [one, this.#toContent(one)]));
    await this.#findStored(tx, [...contents.values()]);
    const planned: PlannedReport[] = [];
    for (const one of all) {
      const content = contents.get(one);
      planned.push(content === undefined ? REMOVED : await this.#planOne(tx, one, content));
    }
    return planned;
  }

  /** Unknown ones are inserted as unclaimed. */
  async #insertDomains(tx: Tx, names: ReadonlySet<string>): Promise<void> {
    const unknown = [...names].filter((name) => !this.#domains.has(name));
    const inserted = unknown.map((name) => ({ name }));
    this.#keep(await insertReportedDomains(tx, inserted, this.#receivedAt));
  }

  #toContent({ report, id }: IdentifiedReport): NewContent {
    const { payloadSha256 } = report;
    const domain = this.#domains.get(domainOf(report)) as ReportedDomain;
    const payload = { payload_sha256: toBytes(payloadSha256) };
    const row = { id, domain_seq: domain.seq, ...payload, ...toParsedRow(report) };
    const policy = isTls(report) ? null : toPolicyTags(report.policyPublished);
    return { domain, row, policy };
  }

  async #findStored(tx: Tx, contents: readonly NewContent[]): Promise<void> {
    const unknown = contents.map(({ row }) => row).filter(({ id }) => !this.#reports.has(id));
    const found = (await runAllPrepared(tx, knownReports(tx, unknown))).flat();
    for (const { id, payload_sha256, other } of found) {
      if (payload_sha256 !== null) this.#reports.set(id, toHex(payload_sha256));
      if (other !== null) this.#repeated.add(id);
    }
  }

  async #planOne(tx: Tx, one: IdentifiedReport, content: NewContent): Promise<PlannedReport> {
    const { id, report, proof } = one;
    const { payloadSha256 } = report;
    const stored = this.#reports.get(id);
    if (stored === payloadSha256) return { outcome: 'duplicate' };
    if (stored === undefined) {
      this.#reports.set(id, payloadSha256);
      const isUnclaimed = content.domain.accountId === null;
      const added = this.#isRepeated(one) ? this.#toContent(withWarning(one)) : content;
      return { outcome: isUnclaimed ? 'unclaimed' : 'stored', added };
    }
    const conflicts = this.#conflicts.get(id) ?? (await findConflictPayloads(tx, content));
    this.#conflicts.set(id, conflicts);
    if (conflicts.has(payloadSha256) || conflicts.size >= toMaxConflicts(proof))
      return { outcome: 'conflict' };
    if (await isReadAgain(tx, content, one)) return { outcome: 'duplicate' };
    conflicts.add(payloadSha256);
    return { outcome: 'conflict', added: content };
  }

  #isRepeated({ id, report: { payloadSha256 } }: IdentifiedReport): boolean {
    const first = this.#ids.get(payloadSha256) ?? id;
    this.#ids.set(payloadSha256, first);
    return first !== id || this.#repeated.has(id);
  }
}

const REPEATED: Warning = { code: 'repeated_content' satisfies WarningCode, count: 1, where: null };

const withWarning = ({ report, ...one }: IdentifiedReport): IdentifiedReport => ({
  ...one,
  report: { ...report, warnings: [...report.warnings, REPEATED] },
});

const REMOVED: PlannedReport = { outcome: 'removed' };

/**
 * Whether one of its identity is stored. Outside a transaction: another process may remove the report, or store it,
 * before one begins.
 */
export async function isStored(db: Queries, report: Report): Promise<boolean> {
  const stored = await db
    .selectFrom('report')
    .select('id')
    .where('id', '=', toReportId(report))
    .executeTakeFirst();
  return stored !== undefined;
}

type IdentifiedReport = ArrivingReport & { readonly id: string };

const toKey = ({ id, report }: IdentifiedReport): string => `${id} ${report.payloadSha256}`;

/** The keys of those whose payload an operator has removed. */
async function listRemoved(
  tx: Tx,
  reports: readonly IdentifiedReport[],
): Promise<ReadonlySet<string>> {
  const rows = (await runAllPrepared(tx, removedPayloads(reports))).flat();
  return new Set(rows.map(({ id, payload_sha256 }) => `${id} ${toHex(payload_sha256)}`));
}

/** Anybody can send other contents of a report, and they must leave room for the one that takes their place. */
const MAX_CONFLICTS = 10;

/** Where mails are not verified, they count as files: those have no room of their own. */
function toMaxConflicts({ authenticated, doubt }: MailProof): number {
  return MAX_CONFLICTS * (1 + (authenticated === null ? 0 : toTrust(doubt)));
}

/** Whether the report, or a conflict of it, came in the same document. Another version of the parser has read it otherwise. */
async function isReadAgain(
  tx: Tx,
  { row: { id, domain_seq, begin_date } }: NewContent,
  { place: { input, path } }: ArrivingReport,
): Promise<boolean> {
  const documents = tx
    .selectFrom('document')
    .select('seq')
    .where(({ and }) => and({ input_sha256: toInputHash(input.sha256), path }));
  const report = tx
    .selectFrom('report')
    .select('id')
    .where(({ and }) => and({ id, domain_seq, begin_date }))
    .where('document_seq', 'in', documents);
  const conflict = tx
    .selectFrom('conflict')
    .select('report_id as id')
    .where(({ and }) => and({ report_id: id, domain_seq, begin_date }))
    .where('document_seq', 'in', documents);
  return (await report.union(conflict).executeTakeFirst()) !== undefined;
}

async function findConflictPayloads(tx: Tx, { row }: NewContent): Promise<Set<string>> {
  const rows = await selectConflicts(tx, row).select('payload_sha256').execute();
  return new Set(rows.map(({ payload_sha256 }) => toHex(payload_sha256)));
}
