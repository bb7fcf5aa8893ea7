import { loadOrganizationalDomains } from '../../../domain/dns/organizational-domain.ts';
import { parseNetwork } from '../../../domain/network-address.ts';
import { type MailOfStanding, type Standing, sumByStanding } from '../../../domain/own-mail.ts';
import { remember } from '../../../domain/remember.ts';
import { type Sort, sortFirst } from '../../../domain/sort.ts';
import type { SeenMail } from '../../../domain/sources/evidence.ts';
import { type GroupName, toNetworkName, toOrganisation } from '../../../domain/sources/groups.ts';
import type { Mark } from '../../../domain/sources/source.ts';
import { type SourceColumn, toSourceOrder } from '../../../domain/sources/source-order.ts';
import {
  type JudgedRange,
  type JudgedSource,
  readJudgedOnce,
  toRest,
} from '../../../judging/judged.ts';
import type { DomainOfAccount } from '../../../store/lists/heads.ts';
import type { SettingsDeps } from '../../deps.ts';
import type { DomainRange } from '../../frame/range.ts';
import { groupSources, type SourceGroup } from './source-groups.ts';

/** What sources are grouped by: who sent, their network, or the organizational domain of their name. */
export type Grouping = 'sender' | 'network' | 'organisation';

export interface SourceChoice {
  readonly failingOnly: boolean;
  readonly mark: Mark | 'unmarked' | undefined;
  /** What the answer on the domain's page counts so. */
  readonly standing: Standing | undefined;
  readonly group: Grouping | undefined;
  /** The key of one group, whose sources are listed. */
  readonly within: string | undefined;
  /** Empty for every source. */
  readonly search: string;
  /** undefined: most failed messages first. */
  readonly sort: Sort<SourceColumn> | undefined;
  /** From 1. */
  readonly page: number;
}

export const PER_PAGE = 50;

interface FindQuery {
  readonly scope: DomainOfAccount;
  readonly domain: { readonly id: string; readonly name: string };
  readonly range: DomainRange;
  readonly choice: SourceChoice;
  readonly perPage?: number;
}

export interface FoundSources
  extends Pick<JudgedRange, 'marks' | 'messages' | 'days' | 'unlisted' | 'reporters' | 'aside'> {
  readonly sources: readonly JudgedSource[];
  /** How many there are on all pages. */
  readonly total: number;
  readonly groups?: readonly SourceGroup[];
  /** The one group whose sources are shown. */
  readonly within?: SourceGroup | undefined;
  /** All of the standing that is shown. */
  readonly counted?: MailOfStanding | undefined;
  /** How many addresses were looked at, when there are more. */
  readonly cutAt?: number | undefined;
}

export async function findSources(deps: SettingsDeps, query: FindQuery): Promise<FoundSources> {
  const { scope, domain, range, choice } = query;
  const asked = { scope, name: domain.name, range };
  const judged = await readJudgedOnce({ ...deps, ...deps.store }, asked);
  const { sources: all, marks, messages, days, unlisted, reporters, aside, total } = judged;
  const chosen = choose(all, judged, choice);
  const counted = choice.standing && sumByStanding(all, judged, toRest(judged))[choice.standing];
  const cutAt = total > all.length ? all.length : undefined;
  const common = { marks, messages, days, unlisted, reporters, aside, counted, cutAt };
  const { group, within } = choice;
  const compare = choice.sort && toSourceOrder(choice.sort);
  if (group === undefined) return { ...common, ...sliceOf(chosen, query, compare) };
  const groups = groupSources(chosen, await loadGroupNamer(group));
  if (within === undefined) {
    const { sources, total } = sliceOf(groups, query, compare);
    return { ...common, groups: sources, sources: [], total };
  }
  const own = groups.find(({ key }) => key === within);
  return { ...common, ...sliceOf(own?.members ?? [], query, compare), within: own };
}

function sliceOf<T extends JudgedSource | SourceGroup>(
  items: readonly T[],
  { choice: { page }, perPage = PER_PAGE }: FindQuery,
  compare: ReturnType<typeof toSourceOrder> | undefined,
) {
  // Without an order they are as they came: most failed messages first.
  const first = compare === undefined ? items : sortFirst(items, compare, page * perPage);
  return { sources: first.slice((page - 1) * perPage, page * perPage), total: items.length };
}

function choose(
  sources: readonly JudgedSource[],
  { marks, results }: JudgedRange,
  { failingOnly, mark, standing, search }: SourceChoice,
): readonly JudgedSource[] {
  const isMeant = toMeant(search, results);
  return sources.filter((source) => {
    if (failingOnly && source.messages === source.aligned) return false;
    if (standing !== undefined && source.standing !== standing) return false;
    const { address, sender } = source;
    const own = (marks.get(address) ?? marks.get(sender.key))?.mark ?? 'unmarked';
    return (mark === undefined || mark === own) && isMeant(source);
  });
}

/**
 * An address is meant by a text when it is in a network (`192.0.2.0/24`), or when the text is a part of the address, of its
 * name, of its network or sender, or of a domain that signed or sent in its reports.
 */
function toMeant(search: string, results: JudgedRange['results']) {
  if (search === '') return () => true;
  const isInNetwork = search.includes('/') ? parseNetwork(search) : undefined;
  if (isInNetwork !== undefined) return ({ address }: JudgedSource) => isInNetwork(address);
  const wanted = search.toLowerCase();
  const hasMeant = remember(({ spf, dkim }: SeenMail) =>
    [spf, ...dkim].some(({ domain }) => domain?.includes(wanted)),
  );
  return ({ address, name, network, sender }: JudgedSource) =>
    [address, name, toNetworkName(network).title, sender.title].some((text) =>
      text?.toLowerCase().includes(wanted),
    ) || !!results.get(address)?.some(({ seen }) => hasMeant(seen));
}

async function loadGroupNamer(group: Grouping): Promise<(source: JudgedSource) => GroupName> {
  if (group === 'sender') return ({ sender }) => sender;
  if (group === 'network') return ({ network }) => toNetworkName(network);
  const toOrganizationalDomain = await loadOrganizationalDomains();
  return ({ name }) => toOrganisation(name, toOrganizationalDomain);
}
