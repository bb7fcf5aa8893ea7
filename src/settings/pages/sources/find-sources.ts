import { loadOrganizationalDomains } from '../../../domain/dns/organizational-domain.ts';
import {
  type Grouping,
  type GroupName,
  groupSources,
  type SourceGroup,
  toNetworkName,
  toOrganisation,
} from '../../../domain/sources/groups.ts';
import type { Counts, Mark, Source } from '../../../domain/sources/source.ts';
import {
  readSources,
  readSourcesForGroups,
  readSourcesOf,
  type SourceList,
  type SourceRow,
} from '../../../store/sources/list.ts';
import { readMarks } from '../../../store/sources/marks.ts';
import { findNames, readAllNames } from '../../../store/sources/names.ts';
import type { SourceCounts } from '../../../store/sources/parts.ts';
import type { DomainScope } from '../../../store/sources/scope.ts';
import type { SettingsDeps } from '../../deps.ts';
import type { DomainRange } from '../../frame/range.ts';

export interface Choice {
  readonly failingOnly: boolean;
  readonly mark: Mark | 'unmarked' | undefined;
  readonly group: Grouping | undefined;
  /** The key of one group, whose sources are listed. */
  readonly within: string | undefined;
  /** From 1. */
  readonly page: number;
}

export const PER_PAGE = 50;

interface SourceQuery {
  readonly scope: DomainScope;
  readonly range: DomainRange;
  readonly choice: Choice;
}

export interface Found {
  /** How many there are on all pages. */
  readonly total: number;
  readonly sources: readonly Source[];
  readonly groups: readonly SourceGroup[] | undefined;
  /** The title of the one group that is shown. */
  readonly groupTitle: string | undefined;
  /** All messages of the range, whatever is shown of them, and those that belong to no address that is kept. */
  readonly messages: number;
  readonly hasReports: boolean;
  readonly unlisted: number;
  /** How many addresses were looked at, when there are more. */
  readonly cutAt: number | undefined;
}

/** The store pages sources by itself. Groups are not in its query, so for these a bounded number is read. */
export async function findSources(deps: SettingsDeps, query: SourceQuery): Promise<Found> {
  const { group, within } = query.choice;
  if (group === undefined) return await findPage(deps, query);
  return within === undefined
    ? await findGroups(deps, query, group)
    : await findWithin(deps, query, { group, within });
}

async function findPage(deps: SettingsDeps, { scope, range, choice }: SourceQuery): Promise<Found> {
  const { failingOnly, mark, page } = choice;
  const offset = (page - 1) * PER_PAGE;
  const found = await readSources(deps.store.reader, scope, {
    ...{ range, failingOnly, mark, offset },
    limit: PER_PAGE,
  });
  const sources = await describe(deps, scope, found.sources);
  return { ...found, sources, groups: undefined, groupTitle: undefined, cutAt: undefined };
}

/** Only what the addresses are grouped by is looked up: their networks or their names. */
async function findGroups(deps: SettingsDeps, query: SourceQuery, group: Grouping): Promise<Found> {
  const { scope, range, choice } = query;
  const found = await readSourcesForGroups(deps.store.reader, scope, { range, ...choice });
  const toName = await NAMERS[group](deps, scope);
  const groups = groupSources(found.sources.map(toCounts), ({ address }) => toName(address));
  const shown = { sources: [], groups: sliceOf(groups, query), groupTitle: undefined };
  return { ...found, ...shown, cutAt: findCut(found), total: groups.length };
}

async function findWithin(
  deps: SettingsDeps,
  query: SourceQuery,
  { group, within }: { readonly group: Grouping; readonly within: string },
): Promise<Found> {
  const { scope, range, choice } = query;
  const { reader } = deps.store;
  const found = await readSourcesForGroups(reader, scope, { range, ...choice });
  const toName = await NAMERS[group](deps, scope);
  const own = found.sources.map(toAddress).filter((address) => toName(address).key === within);
  const rows = await readSourcesOf(reader, scope, { range, addresses: sliceOf(own, query) });
  const sources = await describe(deps, scope, rows);
  const groupTitle = own[0] && toName(own[0]).title;
  const shown = { sources, groups: undefined, groupTitle };
  return { ...found, ...shown, cutAt: findCut(found), total: own.length };
}

function sliceOf<T>(items: readonly T[], { choice: { page } }: SourceQuery): readonly T[] {
  return items.slice((page - 1) * PER_PAGE, page * PER_PAGE);
}

function findCut({ total, sources }: SourceList<unknown>): number | undefined {
  return total > sources.length ? sources.length : undefined;
}

type Namer = (deps: SettingsDeps, scope: DomainScope) => Promise<(address: string) => GroupName>;

const NAMERS: Readonly<Record<Grouping, Namer>> = {
  network:
    async ({ findNetwork }) =>
    (address) =>
      toNetworkName(findNetwork?.(address)),
  organisation: async ({ store }, { domainId }) => {
    const names = await readAllNames(store.reader, domainId);
    const toOrganizationalDomain = await loadOrganizationalDomains();
    return (address) => toOrganisation(names.get(address), toOrganizationalDomain);
  },
};

const toAddress = ({ address }: { readonly address: string }) => address;

function toCounts(row: SourceCounts): Counts & { readonly address: string } {
  const { address, messages, aligned, dkim_aligned: dkimAligned, spf_aligned: spfAligned } = row;
  return { address, messages, aligned, dkimAligned, spfAligned };
}

/** Rows with what is known of their addresses. Nothing is looked up here. */
export async function describe(
  { store, findNetwork }: SettingsDeps,
  { domainId }: DomainScope,
  rows: readonly SourceRow[],
): Promise<readonly Source[]> {
  const names = await findNames(store.reader, domainId, rows.map(toAddress));
  const marks = await readMarks(store.reader, domainId);
  return rows.map((row) => ({
    ...toCounts(row),
    firstDay: row.first_day,
    lastDay: row.last_day,
    name: names.get(row.address),
    network: findNetwork?.(row.address),
    mark: marks.get(row.address)?.mark,
  }));
}
