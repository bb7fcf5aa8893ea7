import { failedOf } from '../alerts/rate.ts';
import type { ToOrganizationalDomain } from '../dns/organizational-domain.ts';
import type { Day } from '../instant.ts';
import { addSafely } from '../safe-sum.ts';
import { addCounts } from './day-sources.ts';
import type { Network } from './network.ts';
import type { NamedService } from './service-name.ts';
import type { SourceCounts, Writable } from './source.ts';
import type { Verdict } from './verdict.ts';

/** What sources are grouped by: the service that sent, their network, or the organizational domain of their name. */
export type Grouping = 'service' | 'network' | 'organisation';

export interface GroupName {
  /** Identifies the group within its grouping; `-` for sources whose network or name is not known. */
  readonly key: string;
  readonly title: string | undefined;
  readonly service?: NamedService | undefined;
  /** The verdict on the source, or on most messages of a group. */
  readonly verdict?: Verdict | undefined;
}

export interface SourceGroup extends SourceCounts, GroupName {
  readonly sources: number;
  readonly firstDay: Day;
}

type SeenSource = SourceCounts & { readonly firstDay: Day };

const UNKNOWN_GROUP: GroupName = { key: '-', title: undefined };

/** Groups of sources, in the order of the first of each, which gives its title. */
export function groupSources<S extends SeenSource>(
  sources: readonly S[],
  toName: (source: S) => GroupName,
): readonly SourceGroup[] {
  const groups = new Map<string, Writable<SourceGroup>>();
  const verdicts = new Verdicts();
  for (const source of sources) {
    const name = toName(source);
    const group = groups.get(name.key);
    if (group === undefined) {
      groups.set(name.key, toFirst(source, name));
      continue;
    }
    if (group.sources === 1) verdicts.add(group, group.messages);
    verdicts.add(name, source.messages);
    addCounts(group, source);
    group.sources += 1;
    if (source.firstDay < group.firstDay) group.firstDay = source.firstDay;
  }
  return [...groups.values()].map((group) => verdicts.judge(group));
}

function toFirst(source: SeenSource, { key, title, service, verdict }: GroupName) {
  const { messages, aligned, dkimAligned, spfAligned, firstDay } = source;
  const counts = { messages, aligned, dkimAligned, spfAligned };
  return { key, title, service, verdict, ...counts, sources: 1, firstDay };
}

/** Messages by verdict, of each group of several sources. */
class Verdicts {
  readonly #counts = new Map<string, Map<Verdict, number>>();

  add({ key, verdict }: GroupName, messages: number): void {
    if (verdict === undefined) return;
    const counts = this.#counts.get(key);
    if (counts === undefined) this.#counts.set(key, new Map([[verdict, messages]]));
    else counts.set(verdict, addSafely(counts.get(verdict) ?? 0, messages));
  }

  judge(group: SourceGroup): SourceGroup {
    const [most] = [...(this.#counts.get(group.key) ?? [])].sort(([, a], [, b]) => b - a);
    return most === undefined ? group : { ...group, verdict: most[0] };
  }
}

/** Most failed messages first. */
export function byFailures(a: SourceGroup, b: SourceGroup): number {
  return failedOf(b) - failedOf(a) || b.messages - a.messages || (a.key < b.key ? -1 : 1);
}

export function toOrganisation(
  name: string | undefined,
  toOrganizationalDomain: ToOrganizationalDomain,
): GroupName {
  if (name === undefined) return UNKNOWN_GROUP;
  const domain = toOrganizationalDomain(name);
  return { key: domain, title: domain };
}

/** The group of a source's network. Its key is the network's number if known, because names vary in spelling. */
export function toNetworkName(network: Network | undefined): GroupName {
  const title = network && toNetworkTitle(network);
  if (network === undefined || title === undefined) return UNKNOWN_GROUP;
  return { key: network.asn === null ? title : `AS${network.asn}`, title };
}

/** `AS64500 Example Networks`; undefined when neither is known. */
export function toNetworkTitle({ asn, organisation }: Network): string | undefined {
  if (asn === null) return organisation || undefined;
  return organisation === null ? `AS${asn}` : `AS${asn} ${organisation}`;
}
