import type { Request } from 'express';
import { html } from 'hono/html';
import { toStanding } from '../../../domain/own-mail.ts';
import { toNetworkTitle } from '../../../domain/sources/groups.ts';
import type { SourceCounts } from '../../../domain/sources/source.ts';
import { SOURCE_COLUMNS } from '../../../domain/sources/source-order.ts';
import { formatDomainName } from '../../../domain/text.ts';
import { type JudgedSource, MAX_JUDGED } from '../../../judging/judged.ts';
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
  toRangeQuery,
} from '../../frame/range.ts';
import { type Html, renderDomainName } from '../../frame/text.ts';
import { readPageNumber, readQuery, readSearch, readSort } from '../../request.ts';
import { domainScopeOf, type Visitor, visitorOf } from '../../visitor.ts';
import { renderBelieved } from '../aside-view.ts';
import { STANDING_NAMES } from '../readiness-view.ts';
import { renderWords } from '../words.ts';
import { findSources, type Grouping, type SourceChoice } from './find-sources.ts';
import { type ListView, renderFilters, toListPath, toSourceParameters } from './list-filters.ts';
import { renderMarks } from './marks.ts';
import type { SourceGroup } from './source-groups.ts';
import { renderNetworkCredit, toSourcePath } from './source-labels.ts';
import { renderFound } from './sources-view.ts';
import { renderJudgement, toVerdictCells } from './verdict-view.ts';

export const showSources: PageHandler = async (deps, req, res) => {
  const scope = domainScopeOf(req, res);
  const { domain, range } = await readDomainRange(deps, req, { scope, longest: ONE_YEAR });
  const choice = readChoice(req);
  const found = await findSources(deps, { scope, domain, range, choice });
  const path = toSourcePath(domain.id);
  const view = { path, range, choice, found, domainId: domain.id };
  const { page: _, ...parameters } = toSourceParameters(choice);
  const main = html`${renderTrail(domain, 'Sources')}
    <h1>Sources</h1>
    <p class="lead">Who sent in the name of ${renderDomainName(domain.name)}.</p>
    ${renderTabs(domain.id, 'Sources', range)}
    ${choice.group === 'sender' && found.within ? await renderSender(view, found.within, visitorOf(res), deps.now()) : ''}
    <section class="card" aria-labelledby="list">
      ${renderRanges(path, range, parameters)}
      ${renderBelieved(found, `/settings/domains/${domain.id}/reports?${toRangeQuery(range)}`)}
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

/** Who a sender is, and what people say of it, above its addresses. */
async function renderSender(
  view: ListView,
  group: SourceGroup,
  visitor: Visitor,
  now: Date,
): Promise<Html | ''> {
  const [sender] = group.senders;
  if (sender === undefined) return '';
  const standing = toStanding(sender, group);
  const { domainId, found } = view;
  const page = toListPath(view, {});
  const marked = { domainId, subject: sender.key, mark: found.marks.get(sender.key), page };
  return html`${await renderJudgement(sender, { standing, period: '' })}
    ${renderMarks(visitor, marked, now)}`;
}

const MARKS = ['legitimate', 'unknown', 'unmarked'] as const;
const GROUPINGS = ['sender', 'network', 'organisation'] as const satisfies readonly Grouping[];
/** The key of a group may be the whole name of a domain, or of a network. */
const MAX_KEY = 300;

/** A choice that cannot be read is none. */
function readChoice(req: Request): SourceChoice {
  const [mark, standing, group, within] = ['mark', 'standing', 'group', 'within'].map((name) =>
    readQuery(req, name),
  );
  const grouping =
    group === 'address' ? undefined : (GROUPINGS.find((known) => known === group) ?? 'sender');
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
  groups: ['Group', 'Verdict', 'Sender', 'Known by', ...COUNTS, 'Addresses', 'First day'],
  sources: [
    ...['Address', 'Name', 'Network', 'Mark', 'Verdict', 'Sender', 'Known by'],
    ...[...COUNTS, 'First day', 'Last day'],
  ],
};

/** What the list with the same query shows, all pages of it. */
export const exportSources: PageHandler = async (deps, req, res) => {
  const scope = domainScopeOf(req, res);
  const { domain, range } = await readDomainRange(deps, req, { scope, longest: ONE_YEAR });
  const choice = readChoice(req);
  const query = { scope, domain, range, choice: { ...choice, page: 1 }, perPage: MAX_JUDGED };
  const { groups, sources, marks, total } = await findSources(deps, query);
  await sendCsv(res, {
    fileName: `${domain.name.slice(0, 100)}-sources-${range.from}-${range.to}`,
    heads: groups === undefined ? HEADS.sources : HEADS.groups,
    count: total,
    rows: groups?.map(toGroupRow) ?? sources.map((source) => toSourceRow(source, marks)),
  });
};

function toGroupRow(group: SourceGroup): Cell[] {
  const { title, senders, sources, firstDay } = group;
  const [sender] = senders;
  const known = senders.length === 1 && sender ? toVerdictCells(sender) : ['several', null, null];
  return [title ?? null, ...known, ...toCountCells(group), sources, firstDay];
}

function toSourceRow(source: JudgedSource, marks: ListView['found']['marks']): Cell[] {
  const { address, name, network, sender, firstDay, lastDay } = source;
  const mark = marks.get(address)?.mark ?? null;
  const known = [name ?? null, (network && toNetworkTitle(network)) ?? null, mark];
  const counts = toCountCells(source);
  return [address, ...known, ...toVerdictCells(sender), ...counts, firstDay, lastDay];
}

function toCountCells({ messages, aligned, dkimAligned, spfAligned }: SourceCounts): Cell[] {
  return [messages, aligned, messages - aligned, dkimAligned, spfAligned];
}
