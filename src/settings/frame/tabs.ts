import { html } from 'hono/html';
import { type DomainRange, toRangeQuery } from './range.ts';
import type { Html } from './text.ts';

const TABS = [
  ['', 'Summary'],
  ['/sources', 'Sources'],
  ['/reports', 'Reports'],
] as const;

/** The pages of a domain, which keep the range. */
export function renderTabs(
  domainId: string,
  current: (typeof TABS)[number][1],
  range: DomainRange,
): Html {
  const links = TABS.map(([path, text]) => {
    const link = `/settings/domains/${domainId}${path}?${toRangeQuery(range)}`;
    return html`<a href="${link}" ${text === current ? html`aria-current="page"` : ''}>${text}</a>`;
  });
  return html`<nav class="tabs" aria-label="Pages of the domain">${links}</nav>`;
}
