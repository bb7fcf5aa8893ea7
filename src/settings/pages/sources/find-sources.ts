import { loadOrganizationalDomains } from '../../../domain/dns/organizational-domain.ts';
import {
  type Grouping,
  groupSources,
  type SourceGroup,
  toKeyOf,
} from '../../../domain/sources/groups.ts';
import type { Source } from '../../../domain/sources/source.ts';
import { readSources, readSourcesForGroups, type SourceRow } from '../../../store/sources/list.ts';
import { readMarks, type SourceMark } from '../../../store/sources/marks.ts';
import { findNames } from '../../../store/sources/names.ts';
import type { DomainRange } from '../../frame/range.ts';
import type { Given } from '../../given.ts';
import type { Choice } from './choice.ts';

export interface Scope {
  readonly accountId: string;
  readonly domainId: string;
}

export interface Wanted {
  readonly scope: Scope;
  readonly range: DomainRange;
  readonly choice: Choice;
  /** Sources, or groups, of a page. */
  readonly perPage: number;
}

/** A page of the sources that a choice shows, or of their groups. */
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
export async function findSources(given: Given, wanted: Wanted): Promise<Found> {
  return wanted.choice.group === undefined
    ? await findPage(given, wanted)
    : await findAmongAll(given, wanted, wanted.choice.group);
}

async function findPage(given: Given, { scope, range, choice, perPage }: Wanted): Promise<Found> {
  const { failingOnly, mark, page } = choice;
  const offset = (page - 1) * perPage;
  const found = await readSources(given.store.reader, scope, {
    ...{ range, failingOnly, mark, offset },
    limit: perPage,
  });
  const sources = await describe(given, scope, found.sources);
  return { ...found, sources, groups: undefined, groupTitle: undefined, cutAt: undefined };
}

async function findAmongAll(given: Given, wanted: Wanted, group: Grouping): Promise<Found> {
  const { scope, range, choice, perPage } = wanted;
  const { failingOnly, mark } = choice;
  const found = await readSourcesForGroups(given.store.reader, scope, {
    ...{ range, failingOnly, mark },
  });
  const all = await describe(given, scope, found.sources);
  const cutAt = found.total > found.sources.length ? found.sources.length : undefined;
  const { messages, hasReports, unlisted } = found;
  const toPage = <T>(items: readonly T[]) =>
    items.slice((choice.page - 1) * perPage, choice.page * perPage);
  const common = { messages, hasReports, unlisted, cutAt, groupTitle: undefined };
  const toKey = toKeyOf(group, await loadOrganizationalDomains());
  if (choice.within === undefined) {
    const groups = groupSources(all, toKey);
    return { ...common, total: groups.length, sources: [], groups: toPage(groups) };
  }
  const within = all.filter((source) => toKey(source).key === choice.within);
  const groupTitle = within[0] && toKey(within[0]).title;
  return {
    ...common,
    total: within.length,
    sources: toPage(within),
    groups: undefined,
    groupTitle,
  };
}

/** Rows with what is known of their addresses. Nothing is looked up here. */
export async function describe(
  { store, findNetwork }: Given,
  { domainId }: Scope,
  rows: readonly SourceRow[],
): Promise<readonly Source[]> {
  const addresses = rows.map(({ address }) => address);
  const names = await findNames(store.db, domainId, addresses);
  const marks = await readMarks(store.reader, domainId);
  return rows.map((row) => toSource(row, { names, marks, findNetwork }));
}

interface Known {
  readonly names: ReadonlyMap<string, string>;
  readonly marks: ReadonlyMap<string, SourceMark>;
  readonly findNetwork: Given['findNetwork'];
}

function toSource(row: SourceRow, { names, marks, findNetwork }: Known): Source {
  const { address, messages, aligned } = row;
  return {
    ...{ address, messages, aligned },
    dkimAligned: row.dkim_aligned,
    spfAligned: row.spf_aligned,
    firstDay: row.first_day,
    lastDay: row.last_day,
    name: names.get(address),
    network: findNetwork?.(address),
    mark: marks.get(address)?.mark,
  };
}
