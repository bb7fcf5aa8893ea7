import type { Tx } from '../engine/database.ts';
import { type Change, changeSources, subtractSource } from '../sources/days/changes.ts';
import type { DomainDay } from '../sources/days/details.ts';
import { REPORTER_ID_CHARS } from '../sources/days/details.ts';
import type { SourceOfDay } from '../sources/days/source-ips.ts';
import { SourceTexts } from '../sources/days/texts.ts';
import type { ReportRow } from './rows.ts';

/**
 * Subtracts a report whose content, and so whose addresses, cannot be read any more. Each address of its day loses
 * all messages of the report, because it may have sent them all. So a count may be too small, but never too large.
 */
export async function subtractUnread(tx: Tx, at: DomainDay, report: ReportRow): Promise<void> {
  const upperBound = toUpperBound(report);
  const rows = await tx
    .selectFrom('domain_source_ip')
    .select('address')
    .where('domain_id', '=', at.domainId)
    .where('day', '=', at.day)
    .execute();
  const sources = new Map(rows.map(({ address }) => [address, upperBound]));
  const reporter = toReporterId(at, report);
  const change: Change = (counts, source) => {
    const ids = [...counts.patterns.keys()].filter((id) => id.startsWith(reporter));
    return subtractSource(counts, {
      ...source,
      patterns: new Map(ids.map((id) => [id, source.messages])),
    });
  };
  await changeSources(tx, at, { sources, change });
}

function toUpperBound({ total_messages, aligned_messages }: ReportRow): SourceOfDay {
  const [messages, aligned] = [Number(total_messages), Number(aligned_messages)];
  return { messages, aligned, dkimAligned: aligned, spfAligned: aligned, patterns: new Map() };
}

function toReporterId({ day }: DomainDay, { reporter_org }: ReportRow): string {
  return new SourceTexts().ofReport(day, reporter_org)('').slice(0, REPORTER_ID_CHARS);
}
