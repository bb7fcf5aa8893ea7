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

type Head = string | Html | readonly [text: string, className: string] | SortHead;
type SortHead = ReturnType<typeof toSortHead>;

/** The cells have roles: styles that show a row as a card on a narrow screen would otherwise remove a table's. */
export function renderTable(
  className: string,
  heads: readonly Head[],
  rows: readonly Html[],
): Html {
  return html`<table class="${className}" role="table">
    <thead role="rowgroup"><tr role="row">${heads.map(renderHead)}</tr></thead>
    <tbody role="rowgroup">${rows}</tbody>
  </table>`;
}

function renderHead(head: Head): Html {
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
  /** By what is clicked first. */
  readonly first?: 'asc' | 'desc';
}

interface SortedTable<Column extends string> {
  readonly sort: Sort<Column> | undefined;
  readonly toPath: (sort: Sort<Column>) => string;
}

/** A head that is a link, which sorts by its column: the highest first unless `first` says otherwise, and then the other way round. */
export function toSortHead<Column extends string>(
  { text, column, className = '', first = 'desc' }: SortLink<Column>,
  { sort, toPath }: SortedTable<Column>,
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
  readonly pages: number;
  readonly toPath: (page: number) => string;
}

/** Nothing when there is only one page. */
export function renderPages({ label, page, pages, toPath }: Pages): Html | '' {
  if (pages <= 1 && page === 1) return '';
  const previous = Math.min(page - 1, pages);
  return html`<nav class="pages" aria-label="${label}">
    ${previous >= 1 ? html`<a href="${toPath(previous)}">Previous</a>` : ''}<span>Page ${page} of ${pages}</span>${
      page < pages ? html`<a href="${toPath(page + 1)}">Next</a>` : ''
    }
  </nav>`;
}
