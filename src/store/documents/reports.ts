import type { AggregateReport } from '../../domain/reports/aggregate-report.ts';
import { toReportId } from '../../domain/reports/report-identity.ts';
import type { ReportedDomain } from '../accounts/reported-domains.ts';
import type { Tx } from '../engine/database.ts';
import { runAllPrepared } from '../engine/prepared.ts';
import { toContentRow } from '../reports/report-row.ts';
import type { Arrivals } from './arrivals.ts';
import { insertConflict } from './conflicts.ts';
import { knownReports, type NewReport, removedPayloads, reportInserts } from './report-rows.ts';

export interface ReceivedReport {
  readonly report: AggregateReport;
  readonly inputSeq: number;
  readonly member: string | null;
}

/**
 * `unclaimed`: stored for a domain that nobody has registered. `conflict`: other content, with the identity of a
 * stored report. `removed`: not stored, because an operator removed the same content before.
 */
export type ReportOutcome = 'stored' | 'unclaimed' | 'duplicate' | 'conflict' | 'removed';

/**
 * Returns the outcome of each report. The first report of an identity is kept; later content never changes it. Which
 * are known is read first, under the locks of their domains, because only a stored report has a position in the list.
 * `hasRemovals`: whether an operator has ever removed a payload.
 */
export async function insertReports(
  tx: Tx,
  received: readonly ReceivedReport[],
  { arrivals, hasRemovals }: { readonly arrivals: Arrivals; readonly hasRemovals: boolean },
): Promise<ReportOutcome[]> {
  const all = received.map((one) => ({ ...one, id: toReportId(one.report) }));
  const removed = hasRemovals ? await listRemoved(tx, all) : new Set<IdentifiedReport>();
  const kept = all.filter((report) => !removed.has(report));
  const names = new Set(kept.map(({ report }) => report.policyPublished.domain));
  const domains = await arrivals.findDomains(tx, names);
  const planned = kept.map((report) => toPlanned(report, domains, arrivals));
  const stored = await findStoredPayloads(tx, planned);
  const added = await insertNew(tx, planned, stored, arrivals);
  const outcomes = new Map<IdentifiedReport, ReportOutcome>();
  for (const one of planned) {
    const { identified, row, domain } = one;
    if (added.has(one))
      outcomes.set(identified, domain.accountId === null ? 'unclaimed' : 'stored');
    else outcomes.set(identified, await insertConflict(tx, row, stored.get(row.id)));
  }
  return all.map((report) => outcomes.get(report) ?? 'removed');
}

type IdentifiedReport = ReceivedReport & { readonly id: string };

async function listRemoved(
  tx: Tx,
  reports: readonly IdentifiedReport[],
): Promise<Set<IdentifiedReport>> {
  const rows = (await runAllPrepared(tx, removedPayloads(reports))).flat();
  const keys = new Set(rows.map(({ report_id, payload_sha256 }) => report_id + payload_sha256));
  return new Set(reports.filter(({ id, report }) => keys.has(id + report.payloadSha256)));
}

/** A report with its row, which gets a position when it is inserted. */
interface PlannedReport {
  readonly identified: IdentifiedReport;
  readonly domain: ReportedDomain;
  readonly row: Omit<NewReport, 'position'>;
}

function toPlanned(
  identified: IdentifiedReport,
  domains: ReadonlyMap<string, ReportedDomain>,
  { receivedAt }: Arrivals,
): PlannedReport {
  const { id, report, inputSeq, member } = identified;
  const domain = domains.get(report.policyPublished.domain) as ReportedDomain;
  const row = {
    id,
    domain_id: domain.id,
    source_seq: inputSeq,
    member,
    received_at: receivedAt,
    payload_sha256: report.payloadSha256,
    ...toContentRow(report),
  };
  return { identified, domain, row };
}

/** The hashes of the contents that are stored, by the report's id. */
async function findStoredPayloads(
  tx: Tx,
  planned: readonly PlannedReport[],
): Promise<Map<string, string>> {
  const rows = (await runAllPrepared(tx, knownReports(planned.map(({ row }) => row)))).flat();
  const stored = new Map<string, string>();
  for (const { id, payload_sha256 } of rows)
    if (payload_sha256 !== null) stored.set(id, payload_sha256);
  return stored;
}

/** Inserts the first report of each id that is not in `stored`, adds it there, and returns these reports. */
async function insertNew(
  tx: Tx,
  planned: readonly PlannedReport[],
  stored: Map<string, string>,
  arrivals: Arrivals,
): Promise<Set<PlannedReport>> {
  const rows: NewReport[] = [];
  const added = new Set<PlannedReport>();
  for (const one of planned) {
    const { identified, domain, row } = one;
    if (stored.has(row.id)) continue;
    stored.set(row.id, row.payload_sha256);
    added.add(one);
    rows.push({ ...row, position: arrivals.nextPosition(domain) });
    arrivals.add(domain, row, identified.report.sources);
  }
  const inserted = (await runAllPrepared(tx, reportInserts(rows))).flat();
  // The domains are locked, so nobody else stored these ids. A missing row means that its `seq` exists already, as
  // after a sequence was set back.
  if (inserted.length < rows.length)
    throw new Error('A report was not inserted: its number exists.');
  return added;
}
