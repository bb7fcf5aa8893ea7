import { isIP } from 'node:net';
import { addUp } from '../../../domain/alerts/rate.ts';
import { loadOrganizationalDomains } from '../../../domain/dns/organizational-domain.ts';
import { createNetworks } from '../../../domain/network-address.ts';
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
import { loadSenders, type Senders } from './service-groups.ts';

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

export interface FoundSources extends Pick<SourceList, 'sources' | 'marks'> {
  /** How many there are on all pages. */
  readonly total: number;
  readonly groups?: readonly SourceGroup[];
  /** The title of the one group that is shown. */
  readonly groupTitle?: string | undefined;
  /** What is shown of one standing. */
  readonly counted?: MailOfStanding | undefined;
  /** All messages of the range, whatever is shown of them, and those that belong to no address that is kept. */
  readonly messages: number;
  /** How many days have reports. */
  readonly days: number;
  readonly unlisted: number;
  /** How many addresses were looked at, when there are more. */
  readonly cutAt?: number | undefined;
}

/** The store pages sources by itself. Groups are not in its query, so for these a bounded number is read. */
export async function findSources(deps: SettingsDeps, query: FindQuery): Promise<FoundSources> {
  const { group, within, search, standing } = query.choice;
  if (group === undefined && search === '' && standing === undefined)
    return await findPage(deps, query);
  const found = await readForGroups(deps, query);
  const { sources } = found;
  if (group === undefined)
    return { ...found, sources: sliceOf(sources, query), total: sources.length };
  const toName = await loadGroupNamer(deps, query, found);
  if (within === undefined) return { ...found, ...groupPage(sources, query, toName) };
  const own = sources.filter(({ address }) => toName(address).key === within);
  const groupTitle = own[0] && toName(own[0].address).title;
  return { ...found, sources: sliceOf(own, query), groupTitle, total: own.length };
}

async function findPage(
  deps: SettingsDeps,
  { scope, range, choice, perPage = PER_PAGE }: FindQuery,
): Promise<FoundSources> {
  const { failingOnly, mark, sort: order, page } = choice;
  const part = { offset: (page - 1) * perPage, limit: perPage };
  return await deps.days.listSources({ scope, range, failingOnly, mark, order, ...part });
}

/** How many addresses are grouped and searched: those with most failed messages, or most messages where services are grouped. */
export const MAX_GROUPED = 5_000;

function groupPage(
  sources: readonly SourceSum[],
  query: FindQuery,
  toName: (address: string) => GroupName,
) {
  const groups = groupSources(sources, ({ address }) => toName(address));
  const { sort, page } = query.choice;
  const compare = sort && toSourceOrder(sort);
  const order = (a: SourceGroup, b: SourceGroup) => compare?.(a, b) || byFailures(a, b);
  const first = sortFirst(groups, order, page * (query.perPage ?? PER_PAGE));
  return { sources: [], groups: sliceOf(first, query), total: groups.length };
}

async function readForGroups(deps: SettingsDeps, query: FindQuery) {
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
  const sorted = choice.sort ? sources.toSorted(toSourceOrder(choice.sort)) : sources;
  return { ...found, cutAt, counted, sources: sorted };
}

async function findStanding(
  deps: SettingsDeps,
  { scope, domain: { name }, range: window, choice: { standing } }: FindQuery,
  list: SourceList,
): Promise<SourceList> {
  if (standing === undefined) return list;
  const judged = await judgeSources(deps, { scope, name, window });
  const isMeant = (source: SourceSum) => toStanding(judged.toJudged(source)) === standing;
  return { ...list, sources: list.sources.filter(isMeant) };
}

/**
 * An address is meant by a text when it is in a network (`192.0.2.0/24`), or when the text is a part of the address, of its
 * name, of its network or service, or of a domain that signed or sent in its reports.
 */
async function findMeant(deps: SettingsDeps, query: FindQuery, list: SourceList) {
  const { search } = query.choice;
  if (search === '') return list.sources;
  const isInNetwork = parseNetwork(search);
  if (isInNetwork !== undefined) return list.sources.filter(({ address }) => isInNetwork(address));
  const wanted = search.toLowerCase();
  const { toSearched } = await loadAll(deps, query, list);
  return list.sources.filter(({ address }) => toSearched(address).includes(wanted));
}

function parseNetwork(text: string): ((address: string) => boolean) | undefined {
  const [address = '', bits = ''] = text.split('/');
  const max = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return /^\d{1,3}$/.test(bits) && Number(bits) <= max ? createNetworks([text]) : undefined;
}

function loadAll(deps: SettingsDeps, query: FindQuery, list: SourceList): Promise<Senders> {
  const addresses = list.sources.map(({ address }) => address);
  return loadSenders(deps, { ...query, marks: list.marks }, addresses);
}

function sliceOf<T>(items: readonly T[], query: FindQuery): readonly T[] {
  const { choice, perPage = PER_PAGE } = query;
  return items.slice((choice.page - 1) * perPage, choice.page * perPage);
}

/** Only what the addresses are grouped by is looked up: their networks or their names. */
async function loadGroupNamer(
  deps: SettingsDeps,
  query: FindQuery,
  list: SourceList,
): Promise<(address: string) => GroupName> {
  const { group } = query.choice;
  if (group === 'service') return (await loadAll(deps, query, list)).toGroup;
  if (group === 'network') return (address) => toNetworkName(deps.networks?.find(address));
  const names = await readAllNames(deps.store.reader, query.domain.id);
  const toOrganizationalDomain = await loadOrganizationalDomains();
  return (address) => toOrganisation(names.get(address), toOrganizationalDomain);
}

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
