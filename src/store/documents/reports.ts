import { toBytes, toHex } from '../../domain/hex.ts';
import { toDay } from '../../domain/instant.ts';
import type { AggregateReport } from '../../domain/reports/aggregate-report.ts';
import { toStanding } from '../../domain/reports/authentication.ts';
import { toReportId } from '../../domain/reports/report-identity.ts';
import type { ReportedDomain } from '../accounts/reported-domains.ts';
import type { Queries, Tx } from '../engine/database.ts';
import { runAllPrepared } from '../engine/prepared.ts';
import { toContentRow, toExchangedRow } from '../reports/report-row.ts';
import type { Arrivals } from './arrivals.ts';
import { knownReports, type NewReport, removedPayloads, reportInserts } from './report-rows.ts';

/**
 * `unclaimed`: stored for a domain that nobody has registered. `conflict`: other content, with the identity of a
 * stored report. `removed`: not stored, because an operator removed the same content before.
 */
export type ReportOutcome = 'stored' | 'unclaimed' | 'duplicate' | 'conflict' | 'removed';

/** What becomes of a report. */
export interface PlannedReport {
  readonly outcome: ReportOutcome;
  /** The row of a content that is new; undefined when nothing but its arrival is stored. */
  readonly added?: NewContent;
}

export interface ArrivingReport {
  readonly report: AggregateReport;
  /** What is stored of its sender. */
  readonly authenticated: string | null;
}

interface NewContent {
  readonly row: Omit<
    NewReport,
    'position' | 'nonce' | 'document_seq' | 'authenticated' | 'account_seq'
  >;
  readonly domain: ReportedDomain;
  readonly report: AggregateReport;
}

/**
 * The first report of an identity is kept; later content never changes it. Which are known is read first, under the
 * locks of their domains, because only a stored report has a position in the list.
 */
export async function planReports(
  tx: Tx,
  reports: readonly ArrivingReport[],
  arrivals: Arrivals,
): Promise<PlannedReport[]> {
  const all = reports.map((one) => ({ ...one, id: toReportId(one.report) }));
  const removed = await listRemoved(tx, all);
  const kept = all.filter((one) => !removed.has(toKey(one)));
  const names = new Set(kept.map(({ report }) => report.policyPublished.domain));
  const domains = await arrivals.findDomains(tx, names);
  const contents = new Map(kept.map((one) => [one, toContent(one, domains, arrivals)]));
  const stored = await findStoredPayloads(tx, [...contents.values()]);
  const known: KnownContents = { reports: stored, conflicts: new Map() };
  const planned: PlannedReport[] = [];
  for (const one of all) {
    const content = contents.get(one);
    planned.push(
      content === undefined
        ? { outcome: 'removed' }
        : await planContent(tx, { ...content, authenticated: one.authenticated }, known),
    );
  }
  return planned;
}

/**
 * Whether one of its identity is stored. Outside a transaction: another process may remove the report, or store it,
 * before one begins.
 */
export async function isStored(db: Queries, report: AggregateReport): Promise<boolean> {
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

function toContent(
  { report, id }: IdentifiedReport,
  domains: ReadonlyMap<string, ReportedDomain>,
  { receivedAt }: Arrivals,
): NewContent {
  const domain = domains.get(report.policyPublished.domain) as ReportedDomain;
  const row = {
    id,
    domain_id: domain.id,
    received_at: receivedAt,
    payload_sha256: toBytes(report.payloadSha256),
    ...toContentRow(report),
  };
  return { row, domain, report };
}

/** The hashes of the contents that are stored, by the report's id. */
async function findStoredPayloads(
  tx: Tx,
  contents: readonly NewContent[],
): Promise<Map<string, string>> {
  const rows = (await runAllPrepared(tx, knownReports(contents.map(({ row }) => row)))).flat();
  return new Map(
    rows.flatMap(({ id, payload_sha256 }) =>
      payload_sha256 === null ? [] : [[id, toHex(payload_sha256)]],
    ),
  );
}

/** The contents that are stored, and those that were planned before. */
interface KnownContents {
  /** Hashes by the report's id. */
  readonly reports: Map<string, string>;
  readonly conflicts: Map<string, Set<string>>;
}

/** Anybody can send other contents of a report, and they must leave room for the one that takes their place. */
const MAX_CONFLICTS = 10;

/** Where mails are not verified, they count as files: those have no room of their own. */
function toMaxConflicts(authenticated: string | null): number {
  return MAX_CONFLICTS * (1 + (authenticated === null ? 0 : toStanding(authenticated)));
}

async function planContent(
  tx: Tx,
  { authenticated, ...content }: NewContent & Pick<ArrivingReport, 'authenticated'>,
  known: KnownContents,
): Promise<PlannedReport> {
  const { row, domain, report } = content;
  const stored = known.reports.get(row.id);
  if (stored === report.payloadSha256) return { outcome: 'duplicate' };
  if (stored === undefined) {
    known.reports.set(row.id, report.payloadSha256);
    return { outcome: domain.accountId === null ? 'unclaimed' : 'stored', added: content };
  }
  const conflicts = known.conflicts.get(row.id) ?? (await findConflictPayloads(tx, row));
  known.conflicts.set(row.id, conflicts);
  if (conflicts.has(report.payloadSha256) || conflicts.size >= toMaxConflicts(authenticated))
    return { outcome: 'conflict' };
  conflicts.add(report.payloadSha256);
  return { outcome: 'conflict', added: content };
}

/** A content to insert, and the number of its document. */
export interface AddedReport extends NewContent {
  readonly isConflict: boolean;
  readonly documentSeq: number;
  /** Of all that is stored of it. */
  readonly bytes: number;
  readonly authenticated: string | null;
}

export async function insertPlanned(
  tx: Tx,
  added: readonly AddedReport[],
  arrivals: Arrivals,
): Promise<void> {
  const reports = added.filter(({ isConflict }) => !isConflict);
  const rows = reports.map(({ row, domain, report, documentSeq, authenticated, bytes }) => {
    const position = arrivals.nextPosition(domain);
    const { sources, policyPublished } = report;
    arrivals.add(domain, { ...row, authenticated }, { sources, policyPublished, bytes });
    const stored = { document_seq: documentSeq, authenticated, account_seq: domain.accountSeq };
    return { ...row, ...stored, position, nonce: arrivals.nonce };
  });
  const inserted = (await runAllPrepared(tx, reportInserts(rows))).flat();
  // The domains are locked, so nobody else stored these ids. A missing row means that its `seq` exists already, as
  // after a sequence was set back.
  if (inserted.length < rows.length)
    throw new Error('A report was not inserted: its number exists.');
  for (const conflict of added)
    if (conflict.isConflict) arrivals.conflicts.push(await insertConflict(tx, conflict));
}

async function findConflictPayloads(
  tx: Tx,
  { domain_id, id: report_id, begin_date }: NewContent['row'],
): Promise<Set<string>> {
  const rows = await tx
    .selectFrom('conflict')
    .select('payload_sha256')
    .where(({ and }) => and({ report_id, domain_id, begin_date }))
    .execute();
  return new Set(rows.map(({ payload_sha256 }) => toHex(payload_sha256)));
}

/** The caller has locked the domain, and knows that there is none with this content. */
async function insertConflict(tx: Tx, { row, documentSeq, authenticated, bytes }: AddedReport) {
  const { domain_id, id: report_id, begin_date } = row;
  const report = { ...row, document_seq: documentSeq, authenticated };
  await tx
    .insertInto('conflict')
    .values({ domain_id, report_id, begin_date, ...toExchangedRow(report) })
    // A row that is not inserted means that its `seq` exists already, as after a sequence was set back.
    .onConflict((oc) => oc.doNothing())
    .returning('seq')
    .executeTakeFirstOrThrow();
  const { received_at } = await tx
    .selectFrom('report')
    .select('received_at')
    .where(({ and }) => and({ domain_id, begin_date, id: report_id }))
    .executeTakeFirstOrThrow();
  return { domainId: domain_id, day: toDay(received_at), bytes };
}
