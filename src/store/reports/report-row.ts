import type { Selectable } from 'kysely';
import { secondsToInstant, toDay } from '../../domain/instant.ts';
import type { AggregateReport } from '../../domain/reports/aggregate-report.ts';
import { toBelief } from '../../domain/reports/authentication.ts';
import { toReporterKeys } from '../../domain/reports/reporters.ts';
import type { DomainDay } from '../days/day-sources.ts';
import type { Tables } from '../tables.ts';

/** The columns of a report that come from its document. */
export type ParsedRow = ReturnType<typeof toParsedRow>;

export function toParsedRow({ metadata, tally, warnings, content }: AggregateReport) {
  return {
    reporter_org: metadata.orgName,
    reporter_email: metadata.email,
    ...toReporterKeys(metadata),
    report_id: metadata.reportId,
    begin_date: secondsToInstant(metadata.begin),
    end_date: secondsToInstant(metadata.end),
    record_count: tally.recordCount,
    total_messages: tally.totalMessages,
    aligned_messages: tally.alignedMessages,
    dkim_aligned: tally.dkimAligned,
    spf_aligned: tally.spfAligned,
    quarantined: tally.quarantined,
    rejected: tally.rejected,
    otherwise: tally.otherwise,
    warnings: JSON.stringify(warnings),
    content,
  };
}

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
export type NewRow = Omit<ReportRow, 'seq' | 'account_seq' | 'number' | 'nonce' | 'revision'>;

export function toNewRow(report: ReportRow): NewRow {
  const { seq, account_seq, number, nonce, revision, ...row } = report;
  return row;
}

type Placed = Pick<ReportRow, 'domain_id' | 'begin_date' | 'authenticated'>;

/** What of a domain's days has the report: its day is the one on which its window begins. */
export function placeOf({ domain_id, begin_date, authenticated }: Placed): DomainDay {
  return { domainId: domain_id, day: toDay(begin_date), belief: toBelief(authenticated) };
}
