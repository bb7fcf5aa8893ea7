import { html } from 'hono/html';
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

type Head = string | Html | readonly [text: string, className: string];

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
  if (!Array.isArray(head)) return html`<th role="columnheader" scope="col">${head}</th>`;
  const [text, className] = head;
  return html`<th role="columnheader" scope="col" class="${className}">${text}</th>`;
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
