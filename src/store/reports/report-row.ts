import type { Selectable } from 'kysely';
import { secondsToInstant } from '../../domain/instant.ts';
import type { AggregateReport } from '../../domain/reports/aggregate-report.ts';
import type { Tables } from '../tables.ts';

/** The columns of a report that come from its document. */
export function toContentRow({ metadata, tally, warnings, content }: AggregateReport) {
  return {
    reporter_org: metadata.orgName,
    reporter_email: metadata.email,
    report_id: metadata.reportId,
    begin_date: secondsToInstant(metadata.begin),
    end_date: secondsToInstant(metadata.end),
    record_count: tally.recordCount,
    total_messages: tally.totalMessages,
    aligned_messages: tally.alignedMessages,
    warnings: JSON.stringify(warnings),
    content,
  };
}

type Named = Pick<Selectable<Tables['report']>, 'reporter_org' | 'reporter_email'>;

/** Its organisation, or else the domain of its e-mail address: some reports name no organisation. */
export function findReporterName({ reporter_org, reporter_email }: Named): string | null {
  return reporter_org ?? (reporter_email?.split('@').at(-1) || null);
}

type ExchangedRow = Omit<
  Selectable<Tables['conflict']>,
  'seq' | 'domain_id' | 'report_id' | 'begin_date'
>;

/**
 * The columns in which documents of one report differ. Its conflicts have them too, so that a conflict takes the
 * report's place when they are exchanged.
 */
export function toExchangedRow(row: ExchangedRow): ExchangedRow {
  const { document_seq, payload_sha256, received_at, authenticated, warnings, content } = row;
  const { reporter_org, reporter_email, record_count, total_messages, aligned_messages } = row;
  return {
    ...{ document_seq, payload_sha256, received_at, authenticated, warnings, content },
    ...{ reporter_org, reporter_email, record_count, total_messages, aligned_messages },
  };
}
