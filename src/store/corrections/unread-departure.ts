import type { Tx } from '../engine/database.ts';
import {
  type Change,
  changeSources,
  subtractDetails,
  subtractMessages,
} from '../sources/days/changes.ts';
import { REPORTER_ID_CHARS } from '../sources/days/details.ts';
import type { DomainDay, SourceOfDay } from '../sources/days/source-ips.ts';
import { SourceTexts } from '../sources/days/texts.ts';

/** What the row of a report says of a content that cannot be read any more. */
interface UnreadReport {
  readonly reporter_org: string | null;
  readonly total_messages: number;
  readonly aligned_messages: number;
}

/**
 * Subtracts a report whose addresses are not known: all of its messages from each address of its day, because any of
 * them may have sent them all. So counts are too small at most, and addresses that sent no more than the report are
 * dropped.
 */
export async function subtractUnread(
  tx: Tx,
  at: DomainDay,
  { report, hasDetails }: { readonly report: UnreadReport; readonly hasDetails: boolean },
): Promise<void> {
  const most = toMost(report);
  const rows = await tx
    .selectFrom('domain_source_ip')
    .select('address')
    .where('domain_id', '=', at.domainId)
    .where('day', '=', at.day)
    .execute();
  const sources = new Map(rows.map(({ address }) => [address, most]));
  const reporter = toReporterId(at, report);
  const change: Change = (counts, source) => {
    const rest = subtractMessages(counts, source);
    if (!hasDetails) return rest;
    const ids = [...counts.patterns.keys()].filter((id) => id.startsWith(reporter));
    return subtractDetails(rest, {
      ...source,
      patterns: new Map(ids.map((id) => [id, source.messages])),
    });
  };
  await changeSources(tx, at, { sources, change });
}

/** The most that one address can have sent. */
function toMost({ total_messages, aligned_messages }: UnreadReport): SourceOfDay {
  const [messages, aligned] = [Number(total_messages), Number(aligned_messages)];
  return { messages, aligned, dkimAligned: aligned, spfAligned: aligned, patterns: new Map() };
}

function toReporterId({ day }: DomainDay, { reporter_org }: UnreadReport): string {
  return new SourceTexts().ofReport(day, reporter_org)('').slice(0, REPORTER_ID_CHARS);
}
