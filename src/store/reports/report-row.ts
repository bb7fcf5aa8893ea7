import type { Selectable } from 'kysely';
import { secondsToInstant, toDay } from '../../domain/instant.ts';
import type { ReportTally } from '../../domain/reports/aggregate-report.ts';
import { EMPTY_TALLY } from '../../domain/reports/alignment.ts';
import { toBelief } from '../../domain/reports/authentication.ts';
import { isTls, type Report } from '../../domain/reports/report.ts';
import { toReporterKeys } from '../../domain/reports/reporters.ts';
import type { TlsSessions } from '../../domain/reports/tls-report.ts';
import type { DomainDay } from '../days/day-sources.ts';
import type { Tables } from '../tables.ts';

/** The columns of a report that come from its document. */
export type ParsedRow = ReturnType<typeof toParsedRow>;

export function toParsedRow(report: Report) {
  const { metadata, warnings, content } = report;
  return {
    kind: isTls(report) ? ('tls' as const) : null,
    policies: isTls(report) ? JSON.stringify(report.policies) : null,
    reporter_org: metadata.orgName,
    reporter_email: metadata.email,
    ...toReporterKeys(metadata),
    report_id: metadata.reportId,
    begin_date: secondsToInstant(metadata.begin),
    end_date: secondsToInstant(metadata.end),
    ...toCounts(isTls(report) ? toTally(report.sessions) : report.tally),
    warnings: JSON.stringify(warnings),
    content,
  };
}

const toTally = ({ successes, failures, details }: TlsSessions): ReportTally => ({
  ...EMPTY_TALLY,
  ...{ recordCount: details, totalMessages: successes + failures, alignedMessages: successes },
  rejected: failures,
});

const toCounts = (tally: ReportTally) => ({
  record_count: tally.recordCount,
  total_messages: tally.totalMessages,
  aligned_messages: tally.alignedMessages,
  dkim_aligned: tally.dkimAligned,
  spf_aligned: tally.spfAligned,
  quarantined: tally.quarantined,
  rejected: tally.rejected,
  otherwise: tally.otherwise,
});

/** All of them as one value, which a conflict has until it takes its report's place. */
export function packRow({ content, ...columns }: ParsedRow): string {
  return JSON.stringify({ ...columns, content: Buffer.from(content).toString('base64') });
}

export function unpackRow(packed: string): ParsedRow {
  const { content, ...columns } = JSON.parse(packed);
  return { ...columns, content: Buffer.from(content, 'base64') };
}

export type ReportRow = Selectable<Tables['report']>;

/** A report without what is given to it when it is stored. */
export type NewRow = Omit<
  ReportRow,
  'seq' | 'account_seq' | 'tls_account_seq' | 'number' | 'nonce' | 'revision'
>;

/** What a report has from how it came. */
export type Arrived = Pick<NewRow, 'document_seq' | 'received_at' | 'authenticated' | 'doubt'>;

export function toNewRow(report: ReportRow): NewRow {
  const { seq, account_seq, tls_account_seq, number, nonce, revision, ...row } = report;
  return row;
}

/** The account whose changes have it. */
export const accountSeqOf = (row: Pick<ReportRow, 'account_seq' | 'tls_account_seq'>) =>
  row.account_seq ?? row.tls_account_seq;

type OfKind = Pick<ReportRow, 'kind'>;

/** Those that the lists of reports and days are of. */
export const ofDmarc = <Row extends OfKind>(reports: readonly Row[]): readonly Row[] =>
  reports.filter(({ kind }) => kind === null);

export const ofTls = <Row extends OfKind>(reports: readonly Row[]): readonly Row[] =>
  reports.filter(({ kind }) => kind === 'tls');

type Placed = Pick<ReportRow, 'begin_date' | 'doubt'>;

/** What of a domain's days has the report: its day is the one on which its window begins. */
export function placeOf(domainId: string, { begin_date, doubt }: Placed): DomainDay {
  return { domainId, day: toDay(begin_date), belief: toBelief(doubt) };
}
