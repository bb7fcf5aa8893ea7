import type { ToOrganizationalDomain } from '../dns/organizational-domain.ts';
import { addSafely } from '../safe-sum.ts';
import type { Counts, Source } from './source.ts';

/** What sources are grouped by: their network, or the organizational domain of their name. */
export type Grouping = 'network' | 'organisation';

/** Sources of one network or organisation. */
export interface SourceGroup extends Counts {
  /** Names the group among those of one grouping; `-` for sources of which nothing is known. */
  readonly key: string;
  readonly title: string | undefined;
  /** How many addresses. */
  readonly sources: number;
}

const UNKNOWN_GROUP = '-';

/** Groups of sources, those with most failed messages first. */
export function groupSources(sources: readonly Source[], toKey: ToKey): readonly SourceGroup[] {
  const groups = new Map<string, SourceGroup>();
  for (const source of sources) {
    const { key, title } = toKey(source);
    const known = groups.get(key) ?? { key, title, sources: 0, ...NOTHING };
    groups.set(key, { ...known, ...addCounts(known, source), sources: known.sources + 1 });
  }
  return [...groups.values()].sort(byFailures);
}

const NOTHING: Counts = { messages: 0, aligned: 0, dkimAligned: 0, spfAligned: 0 };

function addCounts(a: Counts, b: Counts): Counts {
  return {
    messages: addSafely(a.messages, b.messages),
    aligned: addSafely(a.aligned, b.aligned),
    dkimAligned: addSafely(a.dkimAligned, b.dkimAligned),
    spfAligned: addSafely(a.spfAligned, b.spfAligned),
  };
}

function byFailures(a: SourceGroup, b: SourceGroup): number {
  const failures = b.messages - b.aligned - (a.messages - a.aligned);
  return failures || b.messages - a.messages || (a.key < b.key ? -1 : 1);
}

/** The group of a source. */
export type ToKey = (source: Source) => Pick<SourceGroup, 'key' | 'title'>;

export function toKeyOf(grouping: Grouping, toOrganizationalDomain: ToOrganizationalDomain): ToKey {
  if (grouping === 'network') return toNetworkKey;
  return ({ name }) => {
    if (name === undefined) return { key: UNKNOWN_GROUP, title: undefined };
    const domain = toOrganizationalDomain(name);
    return { key: domain, title: domain };
  };
}

/** By number where there is one, because one network may have its name written in several ways. */
const toNetworkKey: ToKey = ({ network }) => {
  const title = network && toNetworkTitle(network);
  if (network === undefined || title === undefined) return { key: UNKNOWN_GROUP, title: undefined };
  return { key: network.asn === null ? title : `AS${network.asn}`, title };
};

/** `AS64500 Example Networks`; undefined when neither is known. */
export function toNetworkTitle({
  asn,
  organisation,
}: NonNullable<Source['network']>): string | undefined {
  const parts = [asn === null ? null : `AS${asn}`, organisation];
  return parts.filter((part) => part !== null).join(' ') || undefined;
}
