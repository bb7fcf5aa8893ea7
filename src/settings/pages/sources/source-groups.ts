import type { Day } from '../../../domain/instant.ts';
import { failedOf } from '../../../domain/pass-rate.ts';
import type { Sender } from '../../../domain/senders/sender.ts';
import { addCounts } from '../../../domain/sources/day-sources.ts';
import type { GroupName } from '../../../domain/sources/groups.ts';
import type { SourceCounts, Writable } from '../../../domain/sources/source.ts';
import type { JudgedSource } from '../../../judging/judged.ts';

export interface SourceGroup extends SourceCounts, GroupName {
  /** Who sent: several where a network or an organisation has several senders, most failed messages first. */
  readonly senders: readonly Sender[];
  readonly sources: number;
  readonly members: readonly JudgedSource[];
  readonly firstDay: Day;
}

/** Most failed messages first. */
export function groupSources(
  sources: readonly JudgedSource[],
  toName: (source: JudgedSource) => GroupName,
): readonly SourceGroup[] {
  const members = Map.groupBy(sources, (source) => toName(source).key);
  return [...members.values()]
    .map((some) => toGroup(some, toName(some[0] as JudgedSource)))
    .sort(byFailures);
}

function toGroup(members: readonly JudgedSource[], { key, title }: GroupName): SourceGroup {
  const sum: Writable<SourceCounts> = { messages: 0, aligned: 0, dkimAligned: 0, spfAligned: 0 };
  for (const member of members) addCounts(sum, member);
  const senders = [...new Set(members.map(({ sender }) => sender))];
  const [firstDay = ''] = members.map((member) => member.firstDay).sort();
  return { key, title, ...sum, senders, sources: members.length, members, firstDay };
}

const byFailures = (a: SourceGroup, b: SourceGroup) =>
  failedOf(b) - failedOf(a) || b.messages - a.messages || (a.key < b.key ? -1 : 1);
