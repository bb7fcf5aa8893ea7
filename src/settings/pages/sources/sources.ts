import type { Request } from 'express';
import { html } from 'hono/html';
import { type Grouping, type SourceGroup, toNetworkTitle } from '../../../domain/sources/groups.ts';
import type { Source, SourceCounts } from '../../../domain/sources/source.ts';
import { SOURCE_COLUMNS } from '../../../domain/sources/source-order.ts';
import { formatDomainName } from '../../../domain/text.ts';
import type { PageHandler } from '../../deps.ts';
import { type Cell, sendCsv } from '../../frame/csv.ts';
import { renderTrail } from '../../frame/elements.ts';
import { sendPage } from '../../frame/page.ts';
import {
  ONE_YEAR,
  readDomainRange,
  renderEmptyRange,
  renderRanges,
  renderTabs,
} from '../../frame/range.ts';
import { renderDomainName } from '../../frame/text.ts';
import { readPageNumber, readQuery, readSearch, readSort } from '../../request.ts';
import { domainScopeOf } from '../../visitor.ts';
import { STANDING_NAMES } from '../readiness-view.ts';
import { renderWords } from '../words.ts';
import { describe, findSources, MAX_GROUPED, type SourceChoice } from './find-sources.ts';
import { renderFilters, toParameters } from './list-filters.ts';
import { renderNetworkCredit, toSourcePath } from './source-labels.ts';
import { renderFound } from './sources-view.ts';
import { toVerdictCells } from './verdict-view.ts';

export const showSources: PageHandler = async (deps, req, res) => {
  const scope = domainScopeOf(req, res);
  const { domain, range } = await readDomainRange(deps, req, { scope, longest: ONE_YEAR });
  const choice = readChoice(req);
  const found = await findSources(deps, { scope, domain, range, choice });
  const sources = await describe(deps, scope, found);
  const path = toSourcePath(domain.id);
  const view = { path, range, choice, found: { ...found, sources }, domainId: domain.id };
  const { page: _, ...parameters } = toParameters(choice);
  const main = html`${renderTrail(domain, 'Sources')}
    <h1>Sources</h1>
    <p class="lead">Who sent in the name of ${renderDomainName(domain.name)}.</p>
    ${renderTabs(domain.id, 'Sources', range)}
    <section class="card" aria-labelledby="list">
      ${renderRanges(path, range, parameters)}
      ${
        found.days > 0
          ? html`${renderFilters(view, deps)}${renderFound(view)}`
          : renderEmptyRange(path, range, parameters)
      }
    </section>
    ${renderWords()}
    ${renderNetworkCredit(deps)}`;
  const title = `Sources of ${formatDomainName(domain.name)}`;
  await sendPage(res, { title, current: 'overview', main });
};

const MARKS = ['legitimate', 'unknown', 'unmarked'] as const;
const GROUPINGS = ['service', 'network', 'organisation'] as const satisfies readonly Grouping[];
/** The key of a group may be the whole name of a domain, or of a network. */
const MAX_KEY = 253;

/** A choice that cannot be read is none. */
function readChoice(req: Request): SourceChoice {
  const [mark, standing, group, within] = ['mark', 'standing', 'group', 'within'].map((name) =>
    readQuery(req, name),
  );
  const grouping =
    group === 'address' ? undefined : (GROUPINGS.find((known) => known === group) ?? 'service');
  const isKey = grouping !== undefined && within !== '' && (within ?? '').length <= MAX_KEY;
  return {
    failingOnly: readQuery(req, 'failing') === '1',
    mark: MARKS.find((known) => known === mark),
    standing: STANDING_NAMES.find((known) => known === standing),
    group: grouping,
    within: isKey ? within : undefined,
    search: readSearch(req),
    sort: readSort(req, SOURCE_COLUMNS),
    page: readPageNumber(req),
  };
}

const COUNTS = ['Messages', 'Passed', 'Failed', 'DKIM aligned', 'SPF aligned'];
const HEADS = {
  groups: ['Sender', 'Verdict', 'Known by', ...COUNTS, 'Addresses', 'First day'],
  sources: ['Address', 'Name', 'Network', 'Mark', ...COUNTS, 'First day', 'Last day'],
};

/** Names and networks are looked up for so many addresses at once. */
const ROWS_AT_ONCE = 500;

/** What the list with the same query shows, all pages of it. */
export const exportSources: PageHandler = async (deps, req, res) => {
  const scope = domainScopeOf(req, res);
  const { domain, range } = await readDomainRange(deps, req, { scope, longest: ONE_YEAR });
  const choice = readChoice(req);
  const query = { scope, domain, range, perPage: MAX_GROUPED };
  const find = (page: number) => findSources(deps, { ...query, choice: { ...choice, page } });
  const { groups, total } = await find(1);
  const rows = async function* () {
    for (let page = 1; (page - 1) * MAX_GROUPED < total; page += 1) {
      const { groups = [], sources, marks } = await find(page);
      yield* groups.map(toGroupRow);
      for (let i = 0; i < sources.length; i += ROWS_AT_ONCE) {
        const some = { sources: sources.slice(i, i + ROWS_AT_ONCE), marks };
        yield* (await describe(deps, scope, some)).map(toSourceRow);
      }
    }
  };
  await sendCsv(res, {
    fileName: `${domain.name.slice(0, 100)}-sources-${range.from}-${range.to}`,
    heads: groups === undefined ? HEADS.sources : HEADS.groups,
    count: total,
    rows: rows(),
  });
};

function toGroupRow(group: SourceGroup): Cell[] {
  const { title, sources, firstDay } = group;
  return [title ?? null, ...toVerdictCells(group), ...toCountCells(group), sources, firstDay];
}

function toSourceRow(source: Source): Cell[] {
  const { address, name, network, mark, firstDay, lastDay } = source;
  const known = [name ?? null, (network && toNetworkTitle(network)) ?? null, mark ?? null];
  return [address, ...known, ...toCountCells(source), firstDay, lastDay];
}

function toCountCells({ messages, aligned, dkimAligned, spfAligned }: SourceCounts): Cell[] {
  return [messages, aligned, messages - aligned, dkimAligned, spfAligned];
}
