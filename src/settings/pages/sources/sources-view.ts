import { html } from 'hono/html';
import type { Day } from '../../../domain/instant.ts';
import type { Sort } from '../../../domain/sort.ts';
import type { Grouping, SourceGroup } from '../../../domain/sources/groups.ts';
import type { Source, SourceCounts } from '../../../domain/sources/source.ts';
import { SOURCE_COLUMNS, type SourceColumn } from '../../../domain/sources/source-order.ts';
import { formatCount, formatDay, pluralize } from '../../../domain/text.ts';
import { renderExport } from '../../frame/csv.ts';
import { renderPages, renderTable, toSortHead } from '../../frame/elements.ts';
import { beginsBeforeData, type DomainRange, toRangeQuery } from '../../frame/range.ts';
import { formatRateInColumn, type Html, renderText } from '../../frame/text.ts';
import { STANDINGS } from '../readiness-view.ts';
import { PER_PAGE } from './find-sources.ts';
import { type ListView, toListPath, toParameters } from './list-filters.ts';
import { listKnown, MAX_TITLE, renderMarkBadge, toSourcePath } from './source-labels.ts';
import { renderEvidence, renderVerdict } from './verdict-view.ts';

export function renderFound(view: ListView): Html {
  const { found, choice } = view;
  const { page } = choice;
  const pages = Math.ceil(found.total / PER_PAGE);
  return html`${renderSummary(view)}
    ${found.unlisted === 0 ? '' : renderNote(`${pluralize(found.unlisted, 'message')} of this range came from addresses that are not listed (the 1,000 largest of a day are kept), came without an address, or came on days whose sources are not kept any more.`)}
    ${found.cutAt === undefined ? '' : renderNote(`These are of the ${formatCount(found.cutAt)} addresses with most ${choice.group === 'service' ? '' : 'failed '}messages.`)}
    ${renderItems(view)}
    ${renderPages({
      label: 'Pages of sources',
      page,
      pages,
      hasNext: page < pages,
      toPath: (to) => toListPath(view, { page: to }),
    })}`;
}

const MARKED = {
  legitimate: ', marked as legitimate',
  unknown: ', marked as unknown',
  unmarked: ', without a mark',
} as const;

/** A group of services can be one network or one address. */
const GROUP_HEADS = {
  service: 'Sender',
  network: 'Network',
  organisation: 'Organisation',
} as const satisfies Record<Grouping, string>;

const nounOf = ({ group }: ListView['choice']) => GROUP_HEADS[group ?? 'service'].toLowerCase();

function renderNote(text: string): Html {
  return html`<p class="muted">${text}</p>`;
}

function renderSummary(view: ListView): Html {
  const { choice, found, range } = view;
  const what =
    found.groups === undefined
      ? pluralize(found.total, 'address').replace('addresss', 'addresses')
      : pluralize(found.total, nounOf(choice));
  const title = choice.within === undefined ? undefined : (found.groupTitle ?? 'Not known');
  return html`${renderStanding(view)}${
    title === undefined
      ? ''
      : html`<p class="muted"><a href="${toListPath(view, { within: undefined })}">All ${nounOf(choice)}s</a> / ${renderText(title, MAX_TITLE)}</p>`
  }
    <h2 id="list">${what}${choice.failingOnly ? ' with failed messages' : ''}${choice.mark === undefined ? '' : MARKED[choice.mark]}</h2>
    <div class="beside">
      <p class="muted">${formatDay(range.from)} to ${formatDay(range.to)}, ${pluralize(found.messages, 'message')} in all</p>
      <p class="export">${renderExport(`${view.path}/csv?${toRangeQuery(range, toParameters({ ...choice, page: 1 }))}`, found.total)}</p>
    </div>`;
}

/** The same counts as in the answer that links it. */
function renderStanding(view: ListView): Html | '' {
  const { counted } = view.found;
  const { standing } = view.choice;
  if (counted === undefined || standing === undefined) return '';
  const failed = pluralize(counted.messages - counted.aligned, 'message');
  const [label, meaning] = STANDINGS[standing];
  return html`<p class="muted"><a href="${toListPath(view, { standing: undefined })}">All sources</a> / <b>${label}</b> (${meaning}): ${failed} from ${pluralize(counted.sources, 'source')} failed</p>`;
}

function renderItems(view: ListView): Html {
  const { found, choice } = view;
  if (found.groups !== undefined && found.groups.length > 0) {
    const rows = found.groups.map((group) => renderGroup(group, view));
    return renderCountTable(GROUP_HEADS[choice.group ?? 'service'], 'Addresses', rows, view);
  }
  if (found.sources.length > 0)
    return renderCountTable('Address', 'Seen', renderSources(found.sources, view), view);
  if (found.messages === 0)
    return html`<p class="empty">The reports of this range count no messages.</p>`;
  const { page, failingOnly, search, mark, standing, within } = choice;
  const isWhole = page === 1 && search === '' && !mark && !standing && within === undefined;
  return html`<p class="empty">${
    isWhole && failingOnly
      ? 'No address had failed messages in this range.'
      : 'There is no such address in this range.'
  } <a href="${toListPath(view, { failingOnly: false, mark: undefined, standing: undefined, within: undefined, search: '' })}">Show all</a></p>`;
}

export function renderSourceTable(
  sources: readonly Source[],
  domainId: string,
  range: DomainRange,
): Html {
  return renderCountTable('Address', 'Seen', renderSources(sources, { domainId, range }));
}

function renderSources(
  sources: readonly Source[],
  { domainId, range, found }: Pick<ListView, 'domainId' | 'range'> & Partial<ListView>,
) {
  return sources.map((source) => {
    const path = `${toSourcePath(domainId, source.address)}?${toRangeQuery(range)}`;
    return renderSource(source, path, found?.messages);
  });
}

const NUMBERS = ['Messages', 'Passed', 'Failed', 'DKIM aligned', 'SPF aligned'];

/** With the view of a list, the heads are links that sort it. */
function renderCountTable(first: string, last: string, rows: readonly Html[], view?: ListView) {
  const numbers = [...NUMBERS, last].map((text, i) => {
    const column = SOURCE_COLUMNS[i];
    if (view === undefined || column === undefined) return [text, 'number'] as const;
    const toPath = (sort: Sort<SourceColumn>) => toListPath(view, { sort });
    return toSortHead({ text, column, className: 'number' }, { sort: view.choice.sort, toPath });
  });
  return renderTable('sources cards', [first, ...numbers], rows);
}

function renderSource(source: Source, path: string, total?: number): Html {
  const { address, firstDay, lastDay, mark } = source;
  const known = listKnown(source).map((text, i) => html`${i === 0 ? '' : ' · '}${text}`);
  return html`<tr role="row">
    <th role="rowheader" scope="row"><a href="${path}">${address}</a>${renderMarkBadge(mark)}${known.length === 0 ? '' : html`<small>${known}</small>`}</th>
    ${renderCounts(source, total)}
    <td role="cell" class="number seen" data-label="Seen">${renderSeen(firstDay, lastDay)}</td>
  </tr>`;
}

function renderSeen(first: string, last: string): Html {
  const day = (text: string) => html`<time datetime="${text}">${formatDay(text)}</time>`;
  return first === last ? day(last) : html`${day(first)} <span class="until">– ${day(last)}</span>`;
}

function describeFirst(day: Day, range: DomainRange): string {
  return `${beginsBeforeData(range) ? 'since' : 'in this range since'} ${formatDay(day)}`;
}

function renderGroup(group: SourceGroup, view: ListView): Html {
  const { key, title, sources, service, verdict, firstDay } = group;
  const isAddress = view.choice.group === 'service' && key === title;
  const href = isAddress
    ? `${toSourcePath(view.domainId, key)}?${toRangeQuery(view.range)}`
    : toListPath(view, { within: key });
  return html`<tr role="row">
    <th role="rowheader" scope="row"><a href="${href}">${title === undefined ? 'Not known' : renderText(title, MAX_TITLE)}</a>${verdict === undefined ? '' : html` ${renderVerdict(verdict)}<small>${service === undefined ? '' : html`${renderEvidence(service)} · `}${describeFirst(firstDay, view.range)}</small>`}</th>
    ${renderCounts(group, view.found.messages)}
    <td role="cell" class="number" data-label="Addresses">${formatCount(sources)}</td>
  </tr>`;
}

/** `total` has all messages of the range, where the share of them is shown. */
function renderCounts(counts: SourceCounts, total?: number): Html {
  const { messages, aligned, dkimAligned, spfAligned } = counts;
  const failed = messages - aligned;
  return html`<td role="cell" class="number" data-label="Messages">${formatCount(messages)}${total ? renderShare(counts, total) : ''}</td>
    <td role="cell" class="number" data-label="Passed">${formatCount(aligned)}</td>
    <td role="cell" class="number${failed > 0 ? ' wrong' : ''}" data-label="Failed">${formatCount(failed)}</td>
    <td role="cell" class="number" data-label="DKIM aligned">${formatRateInColumn({ messages, aligned: dkimAligned })}</td>
    <td role="cell" class="number" data-label="SPF aligned">${formatRateInColumn({ messages, aligned: spfAligned })}</td>`;
}

function renderShare({ messages, aligned }: SourceCounts, total: number): Html {
  const [passed, failed] = [aligned, messages - aligned].map((count) => (100 * count) / total);
  return html`<svg class="share" aria-hidden="true"><rect class="none" width="100%" height="100%"/><rect class="passed" width="${passed}%" height="100%"/><rect class="failed" x="${passed}%" width="${failed}%" height="100%"/></svg>`;
}
