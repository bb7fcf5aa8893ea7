import { html } from 'hono/html';
import type { Day } from '../../../domain/instant.ts';
import type { Sender } from '../../../domain/senders/sender.ts';
import type { Sort } from '../../../domain/sort.ts';
import type { SourceCounts } from '../../../domain/sources/source.ts';
import { SOURCE_COLUMNS, type SourceColumn } from '../../../domain/sources/source-order.ts';
import { formatCount, formatDay, MAX_TITLE, pluralize } from '../../../domain/text.ts';
import type { JudgedSource } from '../../../judging/judged.ts';
import { renderExport } from '../../frame/csv.ts';
import { renderPages, renderTable, toSortHead } from '../../frame/elements.ts';
import { beginsBeforeData, type DomainRange, toRangeQuery } from '../../frame/range.ts';
import { formatRateInColumn, type Html, renderText } from '../../frame/text.ts';
import { STANDINGS } from '../readiness-view.ts';
import { type Grouping, PER_PAGE } from './find-sources.ts';
import { type ListView, toListPath, toSourceParameters } from './list-filters.ts';
import type { SourceGroup } from './source-groups.ts';
import { listKnown, renderMarkBadge, toSourcePath } from './source-labels.ts';
import { renderEvidence, renderVerdict } from './verdict-view.ts';

export function renderFound(view: ListView): Html {
  const { found, choice } = view;
  const { page } = choice;
  const pages = Math.ceil(found.total / PER_PAGE);
  return html`${renderSummary(view)}
    ${found.unlisted === 0 ? '' : renderNote(`${pluralize(found.unlisted, 'message')} of this range came from addresses that are not listed (1,000 of a day are kept: those with most messages, and with most failures), came without an address, or came on days whose sources are not kept any more.`)}
    ${found.cutAt === undefined ? '' : renderNote(`These are of the ${formatCount(found.cutAt)} addresses with most failed messages.`)}
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

const GROUP_HEADS = {
  sender: 'Sender',
  network: 'Network',
  organisation: 'Organisation',
} as const satisfies Record<Grouping, string>;

const nounOf = ({ group }: ListView['choice']) => GROUP_HEADS[group ?? 'sender'].toLowerCase();

function renderNote(text: string): Html {
  return html`<p class="muted">${text}</p>`;
}

function renderSummary(view: ListView): Html {
  const { choice, found, range } = view;
  const what =
    found.groups === undefined
      ? pluralize(found.total, 'address').replace('addresss', 'addresses')
      : pluralize(found.total, nounOf(choice));
  const title = choice.within === undefined ? undefined : (found.within?.title ?? 'Not known');
  return html`${renderStanding(view)}${
    title === undefined
      ? ''
      : html`<p class="muted"><a href="${toListPath(view, { within: undefined })}">All ${nounOf(choice)}s</a> / ${renderText(title, MAX_TITLE)}</p>`
  }
    <h2 id="list">${what}${choice.failingOnly ? ' with failed messages' : ''}${choice.mark === undefined ? '' : MARKED[choice.mark]}</h2>
    <div class="beside">
      <p class="muted">${formatDay(range.from)} to ${formatDay(range.to)}, ${pluralize(found.messages, 'message')} in all</p>
      <p class="export">${renderExport(`${view.path}/csv?${toRangeQuery(range, toSourceParameters({ ...choice, page: 1 }))}`, found.total)}</p>
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
    return renderCountTable(GROUP_HEADS[choice.group ?? 'sender'], 'Addresses', rows, view);
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

function renderSources(sources: readonly JudgedSource[], view: ListView) {
  return sources.map((source) => {
    const path = `${toSourcePath(view.domainId, source.address)}?${toRangeQuery(view.range)}`;
    return renderSource(source, path, view);
  });
}

const NUMBERS = ['Messages', 'Passed', 'Failed', 'DKIM aligned', 'SPF aligned'];

/** The heads are links that sort the list. */
function renderCountTable(first: string, last: string, rows: readonly Html[], view: ListView) {
  const numbers = [...NUMBERS, last].map((text, i) => {
    const column = SOURCE_COLUMNS[i];
    if (column === undefined) return [text, 'number'] as const;
    const toPath = (sort: Sort<SourceColumn>) => toListPath(view, { sort });
    return toSortHead({ text, column, className: 'number' }, { sort: view.choice.sort, toPath });
  });
  return renderTable('sources cards', [first, ...numbers], rows);
}

function renderSource(source: JudgedSource, path: string, { found, choice }: ListView): Html {
  const { address, firstDay, lastDay, sender } = source;
  const service = choice.within === undefined ? toServiceName(sender) : undefined;
  const known = listKnown({ ...source, service });
  return html`<tr role="row">
    <th role="rowheader" scope="row"><a href="${path}">${address}</a> ${renderVerdict(sender.verdict)}${renderMarkBadge(found.marks.get(address)?.mark)}${known.length === 0 ? '' : html`<small>${known.map((text, i) => html`${i === 0 ? '' : ' · '}${text}`)}</small>`}</th>
    ${renderCounts(source, found.messages)}
    <td role="cell" class="number seen" data-label="Seen">${renderSeen(firstDay, lastDay)}</td>
  </tr>`;
}

const toServiceName = ({ service }: Sender) => service?.name;

function renderSeen(first: string, last: string): Html {
  const day = (text: string) => html`<time datetime="${text}">${formatDay(text)}</time>`;
  return first === last ? day(last) : html`${day(first)} <span class="until">– ${day(last)}</span>`;
}

function describeFirst(day: Day, range: DomainRange): string {
  return `${beginsBeforeData(range) ? 'since' : 'in this range since'} ${formatDay(day)}`;
}

function renderGroup(group: SourceGroup, view: ListView): Html {
  const { key, title, sources, senders, members, firstDay } = group;
  const [{ address }, { service }] = [members[0], senders[0]] as [JudgedSource, Sender];
  const isAddress = view.choice.group === 'sender' && key === address;
  const href = isAddress
    ? `${toSourcePath(view.domainId, key)}?${toRangeQuery(view.range)}`
    : toListPath(view, { within: key });
  const isOne = senders.length === 1;
  return html`<tr role="row">
    <th role="rowheader" scope="row"><a href="${href}">${title === undefined ? 'Not known' : renderText(title, MAX_TITLE)}</a> ${renderVerdicts(senders)}${renderMarkBadge(view.found.marks.get(key)?.mark)}<small>${isOne && service !== undefined ? html`${renderEvidence(service)} · ` : ''}${describeFirst(firstDay, view.range)}</small></th>
    ${renderCounts(group, view.found.messages)}
    <td role="cell" class="number" data-label="Addresses">${formatCount(sources)}</td>
  </tr>`;
}

/** A network or an organisation can have senders of several verdicts. */
function renderVerdicts(senders: readonly Sender[]): readonly Html[] {
  return [...new Set(senders.map(({ verdict }) => verdict))].map(renderVerdict);
}

/** `total` has all messages of the range. */
function renderCounts(counts: SourceCounts, total: number): Html {
  const { messages, aligned, dkimAligned, spfAligned } = counts;
  const failed = messages - aligned;
  return html`<td role="cell" class="number" data-label="Messages">${formatCount(messages)}${renderShare(counts, total)}</td>
    <td role="cell" class="number" data-label="Passed">${formatCount(aligned)}</td>
    <td role="cell" class="number${failed > 0 ? ' wrong' : ''}" data-label="Failed">${formatCount(failed)}</td>
    <td role="cell" class="number" data-label="DKIM aligned">${formatRateInColumn({ messages, aligned: dkimAligned })}</td>
    <td role="cell" class="number" data-label="SPF aligned">${formatRateInColumn({ messages, aligned: spfAligned })}</td>`;
}

function renderShare({ messages, aligned }: SourceCounts, total: number): Html {
  const [passed, failed] = [aligned, messages - aligned].map((count) => (100 * count) / total);
  return html`<svg class="share" aria-hidden="true"><rect class="none" width="100%" height="100%"/><rect class="passed" width="${passed}%" height="100%"/><rect class="failed" x="${passed}%" width="${failed}%" height="100%"/></svg>`;
}
