import { loadOrganizationalDomains } from '../../../domain/dns/organizational-domain.ts';
import { groupSources, type SourceGroup, toKeyOf } from '../../../domain/sources/groups.ts';
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

/** The store pages sources by itself. Groups and marks are not in its query, so for these a bounded number is read. */
export async function findSources(given: Given, wanted: Wanted): Promise<Found> {
  const { group, mark } = wanted.choice;
  return group === undefined && mark === undefined
    ? await findPage(given, wanted)
    : await findAmongAll(given, wanted);
}

async function findPage(given: Given, { scope, range, choice, perPage }: Wanted): Promise<Found> {
  const { failingOnly, page } = choice;
  const offset = (page - 1) * perPage;
  const found = await readSources(given.store.reader, scope, {
    ...{ range, failingOnly, offset },
    limit: perPage,
  });
  const sources = await describe(given, scope, found.sources);
  return { ...found, sources, groups: undefined, groupTitle: undefined, cutAt: undefined };
}

async function findAmongAll(given: Given, wanted: Wanted): Promise<Found> {
  const { scope, range, choice, perPage } = wanted;
  const { failingOnly } = choice;
  const found = await readSourcesForGroups(given.store.reader, scope, { range, failingOnly });
  const all = await describe(given, scope, found.sources);
  const marked = all.filter(({ mark }) => isMarked(mark, choice.mark));
  const cutAt = found.total > found.sources.length ? found.sources.length : undefined;
  const { messages, hasReports, unlisted } = found;
  const toPage = <T>(items: readonly T[]) =>
    items.slice((choice.page - 1) * perPage, choice.page * perPage);
  const common = { messages, hasReports, unlisted, cutAt, groupTitle: undefined };
  if (choice.group === undefined)
    return { ...common, total: marked.length, sources: toPage(marked), groups: undefined };
  const toKey = toKeyOf(choice.group, await loadOrganizationalDomains());
  if (choice.within === undefined) {
    const groups = groupSources(marked, toKey);
    return { ...common, total: groups.length, sources: [], groups: toPage(groups) };
  }
  const within = marked.filter((source) => toKey(source).key === choice.within);
  const groupTitle = within[0] && toKey(within[0]).title;
  return {
    ...common,
    total: within.length,
    sources: toPage(within),
    groups: undefined,
    groupTitle,
  };
}

function isMarked(mark: Source['mark'], wanted: Choice['mark']): boolean {
  return wanted === undefined || (mark ?? 'unmarked') === wanted;
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
