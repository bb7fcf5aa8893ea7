import { Failure } from '../../domain/failure.ts';
import type { Instant } from '../../domain/instant.ts';
import type { AggregateReport, SourceTally } from '../../domain/reports/aggregate-report.ts';
import { toReportId } from '../../domain/reports/report-identity.ts';
import type { ReportedDomain } from '../accounts/reported-domains.ts';
import { countArrivals } from '../documents/arrival-counts.ts';
import { Arrivals } from '../documents/arrivals.ts';
import type { Tx } from '../engine/database.ts';
import type { NewestOther } from '../reports/last-report.ts';
import { toContentRow } from '../reports/report-row.ts';
import { type CountedReport, uncountReport } from './departures.ts';

/* Exchanges the contents of a report and one of its conflicts (corrections.ts). */

/** What a correction reads of a report's row. */
export interface ReportRow extends CountedReport {
  readonly id: string;
  readonly source_seq: number;
  readonly member: string | null;
  readonly payload_sha256: string;
}

export const REPORT_COLUMNS = [
  'seq',
  'id',
  'domain_id',
  'source_seq',
  'member',
  'received_at',
  'begin_date',
  'reporter_org',
  'total_messages',
  'aligned_messages',
  'payload_sha256',
  'position',
] as const;

export const CONFLICT_COLUMNS = [
  'seq',
  'domain_id',
  'report_seq',
  'source_seq',
  'member',
  'payload_sha256',
  'received_at',
] as const;

export interface ConflictRow {
  readonly seq: number;
  readonly domain_id: string;
  readonly report_seq: number;
  readonly source_seq: number;
  readonly member: string | null;
  readonly payload_sha256: string;
  readonly received_at: Instant;
}

interface Exchange {
  readonly report: ReportRow;
  readonly conflict: ConflictRow;
  /** null when it could not be read. */
  readonly former: AggregateReport | null;
  readonly preferred: AggregateReport;
  readonly newestOther: NewestOther;
}

/** Exchanges the contents of the two rows, and updates the counts and heads. */
export async function exchange(
  tx: Tx,
  { report, conflict, former, preferred, newestOther }: Exchange,
): Promise<void> {
  const isUnchanged =
    (former === null || former.payloadSha256 === report.payload_sha256) &&
    preferred.payloadSha256 === conflict.payload_sha256 &&
    toReportId(preferred) === report.id;
  if (!isUnchanged) throw toChanged();
  const arrivals = new Arrivals(conflict.received_at);
  const { domain: name } = preferred.policyPublished;
  await arrivals.lockDomains(tx, new Set([name]));
  const domain = (await arrivals.findDomains(tx, [name])).get(name) as ReportedDomain;
  const position = arrivals.nextPosition(domain);
  await updateContents(tx, { report, conflict, preferred, position });
  await uncountReport(tx, report, { sources: toSources(former), newestOther });
  arrivals.add(domain, toContentRow(preferred), preferred.sources);
  await countArrivals(tx, arrivals);
}

/** What a content's addresses sent; null for one that could not be read. */
export function toSources(content: AggregateReport | null): readonly SourceTally[] | null {
  return content && (content.sources ?? []);
}

type Contents = Pick<Exchange, 'report' | 'conflict' | 'preferred'> & {
  /** Clients that follow the list meet the corrected report there. */
  readonly position: number;
};

async function updateContents(
  tx: Tx,
  { report, conflict, preferred, position }: Contents,
): Promise<void> {
  await tx
    .updateTable('report')
    .set({ ...toPlaceRow(conflict), ...toContentRow(preferred), position })
    .where(({ and }) => and(toKey(report)))
    .execute();
  await tx
    .updateTable('conflict')
    .set(toPlaceRow(report))
    .where(({ and }) => and(toKey(conflict)))
    .execute();
}

/** A row's number is found by its domain. */
export function toKey({ domain_id, seq }: Pick<ConflictRow, 'domain_id' | 'seq'>) {
  return { domain_id, seq };
}

/** Which bytes a content is, where they are stored, and when they came in. */
function toPlaceRow({ source_seq, member, payload_sha256, received_at }: ConflictRow | ReportRow) {
  return { source_seq, member, payload_sha256, received_at };
}

/** The error for a change that was committed between the reading and the transaction. */
export function toChanged(): Failure {
  return new Failure(
    'conflict',
    'The report was changed by another process and was left as it is. Try again.',
  );
}
