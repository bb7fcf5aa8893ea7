import { html } from 'hono/html';
import type { Sort } from '../../domain/sort.ts';
import { type Html, renderDomainName } from './text.ts';

/** Breadcrumbs: the overview, the domain, and what is below it. */
export function renderTrail(
  domain: { readonly id: string; readonly name: string },
  ...below: readonly (Html | string)[]
): Html {
  const { id, name } = domain;
  return html`<p class="trail"><a href="/settings/overview">Overview</a> /
    <a href="/settings/domains/${id}">${renderDomainName(name)}</a>${below.map((one) => html` / ${one}`)}</p>`;
}

type TableHead = string | Html | readonly [text: string, className: string] | SortHead;
type SortHead = ReturnType<typeof toSortHead>;

/** The cells have roles: styles that show a row as a card on a narrow screen would otherwise remove a table's. */
export function renderTable(className: string, heads: readonly TableHead[], rows: readonly Html[]) {
  return html`<table class="${className}" role="table">
    <thead role="rowgroup"><tr role="row">${heads.map(renderHead)}</tr></thead>
    <tbody role="rowgroup">${rows}</tbody>
  </table>`;
}

function renderHead(head: TableHead): Html {
  if (typeof head === 'object' && 'path' in head) return renderSortHead(head);
  if (!Array.isArray(head)) return html`<th role="columnheader" scope="col">${head}</th>`;
  const [text, className] = head;
  return html`<th role="columnheader" scope="col" class="${className}">${text}</th>`;
}

function renderSortHead({ text, className, path, order }: SortHead): Html {
  const sort = order && (order === 'asc' ? 'ascending' : 'descending');
  const arrow = order && (order === 'asc' ? ' ↑' : ' ↓');
  return html`<th role="columnheader" scope="col" class="${className}" ${sort ? html`aria-sort="${sort}"` : ''}><a
    href="${path}">${text}<span aria-hidden="true">${arrow ?? ''}</span></a></th>`;
}

interface SortLink<Column extends string> {
  readonly text: string;
  readonly column: Column;
  readonly className?: string;
  /** The order that the first click gives. */
  readonly first?: 'asc' | 'desc';
}

/** A head that is a link, which sorts by its column: the highest first unless `first` says otherwise, and then the other way round. */
export function toSortHead<Column extends string>(
  { text, column, className = '', first = 'desc' }: SortLink<Column>,
  { sort, toPath }: { sort: Sort<Column> | undefined; toPath: (sort: Sort<Column>) => string },
) {
  const order = sort?.column === column ? sort.order : undefined;
  const next = order === undefined ? first : order === 'desc' ? 'asc' : 'desc';
  const path = toPath({ column, order: next });
  return { text, className, path, order };
}

interface Pages {
  readonly label: string;
  /** From 1; may be after the last one. */
  readonly page: number;
  /** How many there are, where it is known. */
  readonly pages?: number;
  readonly hasNext: boolean;
  readonly toPath: (page: number) => string;
}

export function renderPages({ label, page, pages, hasNext, toPath }: Pages): Html | '' {
  if (page === 1 && !hasNext) return '';
  const previous = Math.min(page - 1, pages ?? page);
  return html`<nav class="pages" aria-label="${label}">
    ${previous >= 1 ? html`<a href="${toPath(previous)}">Previous</a>` : ''}<span>Page ${page}${pages === undefined ? '' : ` of ${pages}`}</span>${hasNext ? html`<a href="${toPath(page + 1)}">Next</a>` : ''}
  </nav>`;
}
