import { addUp } from '../../../domain/alerts/rate.ts';
import { loadOrganizationalDomains } from '../../../domain/dns/organizational-domain.ts';
import { type MailOfStanding, type Standing, toStanding } from '../../../domain/readiness.ts';
import { type Sort, sortFirst } from '../../../domain/sort.ts';
import {
  byFailures,
  type Grouping,
  type GroupName,
  groupSources,
  type SourceGroup,
  toNetworkName,
  toOrganisation,
} from '../../../domain/sources/groups.ts';
import type { Mark, Source } from '../../../domain/sources/source.ts';
import { type SourceColumn, toSourceOrder } from '../../../domain/sources/source-order.ts';
import type { Marks } from '../../../store/days/marks.ts';
import { findNames, readAllNames } from '../../../store/days/names.ts';
import type { SourceList } from '../../../store/days/source-list.ts';
import type { SourceSum } from '../../../store/days/summed-range.ts';
import type { DomainOfAccount } from '../../../store/lists/heads.ts';
import type { SettingsDeps } from '../../deps.ts';
import type { DomainRange } from '../../frame/range.ts';
import { judgeSources } from '../own-mail.ts';
import { loadSearch } from './search.ts';
import type { Senders } from './service-groups.ts';
import { loadSenders } from './service-groups.ts';

export interface Choice {
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

interface SourceQuery {
  readonly scope: DomainOfAccount;
  readonly domain: { readonly id: string; readonly name: string };
  readonly range: DomainRange;
  readonly choice: Choice;
  readonly perPage?: number;
}

export interface Found extends Pick<SourceList, 'sources' | 'marks'> {
  /** How many there are on all pages. */
  readonly total: number;
  readonly groups: readonly SourceGroup[] | undefined;
  /** The title of the one group that is shown. */
  readonly groupTitle: string | undefined;
  /** What is shown of one standing. */
  readonly counted: MailOfStanding | undefined;
  /** All messages of the range, whatever is shown of them, and those that belong to no address that is kept. */
  readonly messages: number;
  /** How many days have reports. */
  readonly days: number;
  readonly unlisted: number;
  /** How many addresses were looked at, when there are more. */
  readonly cutAt: number | undefined;
}

/** The store pages sources by itself. Groups are not in its query, so for these a bounded number is read. */
export async function findSources(deps: SettingsDeps, query: SourceQuery): Promise<Found> {
  const { group, within, search, standing } = query.choice;
  const isWhole = search === '' && standing === undefined;
  if (group === undefined)
    return isWhole ? await findPage(deps, query) : await findSearched(deps, query);
  return within === undefined
    ? await findGroups(deps, query, group)
    : await findWithin(deps, query, { group, within });
}

async function findPage(
  deps: SettingsDeps,
  { scope, range, choice, perPage = PER_PAGE }: SourceQuery,
): Promise<Found> {
  const { failingOnly, mark, sort: order, page } = choice;
  const part = { offset: (page - 1) * perPage, limit: perPage };
  const found = await deps.days.listSources({ scope, range, failingOnly, mark, order, ...part });
  const unused = { groups: undefined, groupTitle: undefined, counted: undefined };
  return { ...found, ...unused, cutAt: undefined };
}

async function findSearched(deps: SettingsDeps, query: SourceQuery): Promise<Found> {
  const found = await readForGroups(deps, query);
  const sources = sliceOf(found.sources, query);
  const shown = { sources, groups: undefined, groupTitle: undefined };
  return { ...found, ...shown, total: found.sources.length };
}

/** How many addresses are grouped and searched: those with most failed messages, or most messages where services are grouped. */
export const MAX_GROUPED = 5_000;

/** Only what the addresses are grouped by is looked up: their networks or their names. */
async function findGroups(deps: SettingsDeps, query: SourceQuery, group: Grouping): Promise<Found> {
  const found = await readForGroups(deps, query);
  const toName = await NAMERS[group](deps, query, found);
  const groups = groupSources(found.sources, ({ address }) => toName(address));
  const { sort } = query.choice;
  const compare = sort && toSourceOrder(sort);
  const order = (a: SourceGroup, b: SourceGroup) => compare?.(a, b) || byFailures(a, b);
  const first = sortFirst(groups, order, query.choice.page * (query.perPage ?? PER_PAGE));
  const shown = { sources: [], groups: sliceOf(first, query), groupTitle: undefined };
  return { ...found, ...shown, total: groups.length };
}

async function findWithin(
  deps: SettingsDeps,
  query: SourceQuery,
  { group, within }: { readonly group: Grouping; readonly within: string },
): Promise<Found> {
  const found = await readForGroups(deps, query);
  const toName = await NAMERS[group](deps, query, found);
  const own = found.sources.filter(({ address }) => toName(address).key === within);
  const sources = sliceOf(own, query);
  const groupTitle = own[0] && toName(own[0].address).title;
  const shown = { sources, groups: undefined, groupTitle };
  return { ...found, ...shown, total: own.length };
}

async function readForGroups(deps: SettingsDeps, query: SourceQuery) {
  const { scope, range, choice } = query;
  const isByMessages = choice.group === 'service' && choice.standing === undefined;
  const order = isByMessages ? 'messages' : 'failed';
  const { failingOnly, mark } = choice;
  const asked = { scope, range, failingOnly, mark, order, limit: MAX_GROUPED, offset: 0 } as const;
  const found = await deps.days.listSources(asked);
  const { total } = found;
  const cutAt = total > found.sources.length ? found.sources.length : undefined;
  const sources = await findMeant(deps, query, await findStanding(deps, query, found));
  const counted = choice.standing && { ...addUp(sources), sources: sources.length };
  return { ...found, cutAt, counted, sources: sort(sources, choice) };
}

async function findStanding(
  deps: SettingsDeps,
  { scope, domain: { name }, range: window, choice: { standing } }: SourceQuery,
  list: SourceList,
): Promise<SourceList> {
  if (standing === undefined) return list;
  const judged = await judgeSources(deps, { scope, name, window });
  const isMeant = (source: SourceSum) => toStanding(judged.toJudged(source)) === standing;
  return { ...list, sources: list.sources.filter(isMeant) };
}

async function findMeant(deps: SettingsDeps, query: SourceQuery, list: SourceList) {
  const { search } = query.choice;
  if (search === '') return list.sources;
  const isMeant = await loadSearch(() => loadAll(deps, query, list), search);
  return list.sources.filter(({ address }) => isMeant(address));
}

/** Who sends from the addresses of a list. */
function loadAll(deps: SettingsDeps, query: SourceQuery, list: SourceList): Promise<Senders> {
  const addresses = list.sources.map(({ address }) => address);
  return loadSenders(deps, { ...query, marks: list.marks }, addresses);
}

/** Groups as well. */
function sort<T extends SourceSum | SourceGroup>(
  items: readonly T[],
  { sort }: Choice,
): readonly T[] {
  return sort === undefined ? items : items.toSorted(toSourceOrder(sort));
}

function sliceOf<T>(items: readonly T[], query: SourceQuery): readonly T[] {
  const {
    choice: { page },
    perPage = PER_PAGE,
  } = query;
  return items.slice((page - 1) * perPage, page * perPage);
}

type Namer = (
  deps: SettingsDeps,
  query: SourceQuery,
  list: SourceList,
) => Promise<(address: string) => GroupName>;

const NAMERS: Readonly<Record<Grouping, Namer>> = {
  service: async (deps, query, list) => (await loadAll(deps, query, list)).toGroup,
  network:
    async ({ networks }) =>
    (address) =>
      toNetworkName(networks?.find(address)),
  organisation: async ({ store }, { domain }) => {
    const names = await readAllNames(store.reader, domain.id);
    const toOrganizationalDomain = await loadOrganizationalDomains();
    return (address) => toOrganisation(names.get(address), toOrganizationalDomain);
  },
};

/** Rows with what is known of their addresses. Nothing is looked up in DNS here. */
export async function describe(
  { store, networks }: SettingsDeps,
  { domainId }: DomainOfAccount,
  { sources, marks }: { readonly sources: readonly SourceSum[]; readonly marks: Marks },
): Promise<readonly Source[]> {
  const addresses = sources.map(({ address }) => address);
  const names = await findNames(store.reader, domainId, addresses);
  return sources.map((source) => ({
    ...source,
    name: names.get(source.address),
    network: networks?.find(source.address),
    mark: marks.get(source.address)?.mark,
  }));
}
