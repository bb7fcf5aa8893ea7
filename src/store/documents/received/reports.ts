import type { AggregateReport } from '../../../domain/reports/aggregate-report.ts';
import { toReportId } from '../../../domain/reports/report-identity.ts';
import type { ReportedDomain } from '../../accounts/reported-domains.ts';
import { insertConflict } from '../../corrections/conflicts.ts';
import type { Tx } from '../../engine/database.ts';
import { runAllPrepared } from '../../engine/prepared.ts';
import { toContentRow } from '../../reports/report-row.ts';
import type { Arrivals } from '../arrivals.ts';
import type { Outcome } from './document.ts';
import { knownReports, type NewReport, removedPayloads, reportInserts } from './report-rows.ts';

/** A report, and where its bytes are stored. */
export interface PlacedReport {
  readonly report: AggregateReport;
  readonly inputSeq: number;
  readonly member: string | null;
}

interface Given {
  readonly arrivals: Arrivals;
  /** Whether an operator has ever removed a payload. */
  readonly hasRemovals: boolean;
}

/**
 * Stores reports, and returns the outcome of each. The first report of an identity is kept. Later content with the
 * same identity never changes it. Which are known is read first, under the locks of their domains, because only
 * a report that is stored has a position in the list.
 */
export async function insertReports(
  tx: Tx,
  reports: readonly PlacedReport[],
  { arrivals, hasRemovals }: Given,
): Promise<Outcome[]> {
  const all = reports.map((placed) => ({ ...placed, id: toReportId(placed.report) }));
  const removed = hasRemovals ? await listRemoved(tx, all) : new Set<Identified>();
  const wanted = all.filter((report) => !removed.has(report));
  const names = new Set(wanted.map(({ report }) => report.policyPublished.domain));
  const domains = await arrivals.findDomains(tx, names);
  const known = await findKnown(tx, wanted, domains);
  const rows = wanted.map((report) => toRow(report, domains, arrivals));
  const added = await insertNew(tx, rows, { known, arrivals });
  const outcomes = new Map<Identified, Outcome>();
  for (const [i, { row, domain }] of rows.entries()) {
    const report = wanted[i] as Identified;
    if (added.has(row)) outcomes.set(report, domain.accountId === null ? 'unclaimed' : 'stored');
    else outcomes.set(report, await insertConflict(tx, row, known.get(row.id)));
  }
  return all.map((report) => outcomes.get(report) ?? 'removed');
}

type Identified = PlacedReport & { readonly id: string };

async function listRemoved(tx: Tx, reports: readonly Identified[]): Promise<Set<Identified>> {
  const rows = (
    await runAllPrepared(tx, removedPayloads(reports.map(({ id }) => ({ id }))))
  ).flat();
  const keys = new Set(rows.map(({ report_id, payload_sha256 }) => report_id + payload_sha256));
  return new Set(reports.filter(({ id, report }) => keys.has(id + report.payloadSha256)));
}

type Domains = ReadonlyMap<string, ReportedDomain>;

function domainOf(domains: Domains, { report }: PlacedReport): ReportedDomain {
  return domains.get(report.policyPublished.domain) as ReportedDomain;
}

/** The hashes of contents that are stored, by the report's id. */
async function findKnown(
  tx: Tx,
  reports: readonly Identified[],
  domains: Domains,
): Promise<Map<string, string>> {
  const keys = reports.map((report) => ({
    domain_id: domainOf(domains, report).id,
    id: report.id,
  }));
  const known = new Map<string, string>();
  for (const { id, payload_sha256 } of (await runAllPrepared(tx, knownReports(keys))).flat())
    if (payload_sha256 !== null) known.set(id, payload_sha256);
  return known;
}

/** A row without its position, and what its domain's counts need of it. */
interface PlannedRow {
  readonly row: Omit<NewReport, 'position'>;
  readonly domain: ReportedDomain;
  readonly report: AggregateReport;
}

function toRow(placed: Identified, domains: Domains, { receivedAt }: Arrivals): PlannedRow {
  const { id, report, inputSeq, member } = placed;
  const domain = domainOf(domains, placed);
  const row = {
    id,
    domain_id: domain.id,
    source_seq: inputSeq,
    member,
    received_at: receivedAt,
    payload_sha256: report.payloadSha256,
    ...toContentRow(report),
  };
  return { row, domain, report };
}

interface Counted {
  /** Hashes of contents by id. What is inserted is added to it. */
  readonly known: Map<string, string>;
  readonly arrivals: Arrivals;
}

/** Inserts the first row of each id that is not known, and returns those rows. */
async function insertNew(
  tx: Tx,
  planned: readonly PlannedRow[],
  { known, arrivals }: Counted,
): Promise<Set<PlannedRow['row']>> {
  const rows: NewReport[] = [];
  const added = new Set<PlannedRow['row']>();
  for (const { row, domain, report } of planned) {
    if (known.has(row.id)) continue;
    known.set(row.id, row.payload_sha256);
    added.add(row);
    rows.push({ ...row, position: arrivals.nextPosition(domain) });
    arrivals.add(domain, row, report.sources);
  }
  const inserted = (await runAllPrepared(tx, reportInserts(rows))).flat();
  // Nobody else can have stored their ids: it is the number of a row that is taken, after a sequence was set back.
  if (inserted.length < rows.length)
    throw new Error('A report was not inserted: its number exists.');
  return added;
}
