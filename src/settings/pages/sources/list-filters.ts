import { html } from 'hono/html';
import type { SettingsDeps } from '../../deps.ts';
import { renderHiddenFields, renderSearch } from '../../frame/forms.ts';
import { type DomainRange, toRangeQuery } from '../../frame/range.ts';
import type { Html } from '../../frame/text.ts';
import { toChosen, toSortParameters } from '../../request.ts';
import type { FoundSources, Grouping, SourceChoice } from './find-sources.ts';

export interface ListView {
  readonly path: string;
  readonly domainId: string;
  readonly range: DomainRange;
  readonly choice: SourceChoice;
  readonly found: FoundSources;
}

/** Begins with the first page. */
export function toListPath({ path, range, choice }: ListView, change: Partial<SourceChoice>) {
  const parameters = toSourceParameters({ ...choice, page: 1, ...change });
  return `${path}?${toRangeQuery(range, parameters)}`;
}

type Option = readonly [text: string, change: Partial<SourceChoice>];

const SHOWN: readonly Option[] = [
  ['All', { failingOnly: false }],
  ['Failing only', { failingOnly: true }],
];
const GROUPED: Readonly<Record<'addresses' | Grouping, Option>> = {
  sender: ['Senders', { group: 'sender', within: undefined }],
  addresses: ['Addresses', { group: undefined, within: undefined }],
  network: ['Networks', { group: 'network', within: undefined }],
  organisation: ['Organisations', { group: 'organisation', within: undefined }],
};
const BY_MARK: readonly Option[] = [
  ['All', { mark: undefined }],
  ['Legitimate', { mark: 'legitimate' }],
  ['Unknown', { mark: 'unknown' }],
  ['Unmarked', { mark: 'unmarked' }],
];

/** Groups need a database of networks, or names that are looked up. */
export function renderFilters(view: ListView, { networks, dnsChecks }: SettingsDeps): Html {
  const grouped = [
    GROUPED.sender,
    GROUPED.addresses,
    ...(networks === undefined ? [] : [GROUPED.network]),
    ...(dnsChecks ? [GROUPED.organisation] : []),
  ];
  return html`<div class="filters">
    ${renderChoices('Show', SHOWN, view)}
    ${renderChoices('By', grouped, view)}
    ${renderChoices('Marked', BY_MARK, view)}
  </div>
  ${renderSearchForm(view)}`;
}

function renderSearchForm({ path, range, choice }: ListView): Html {
  const { q, page: _, ...others } = toSourceParameters(choice);
  const fields = Object.fromEntries(new URLSearchParams(toRangeQuery(range, others)));
  return html`<form class="filter" method="get" action="${path}">${renderHiddenFields(fields)}
    ${renderSearch(q ?? '', 'Address, network, name or domain')}<div class="go"><button class="secondary">Search</button></div></form>`;
}

function renderChoices(label: string, options: readonly Option[], view: ListView): Html {
  const links = options.map(([text, change]) => {
    const isCurrent = Object.entries(change).every(
      ([name, value]) => name === 'within' || view.choice[name as keyof SourceChoice] === value,
    );
    return html`<a href="${toListPath(view, change)}" ${isCurrent ? html`aria-current="true"` : ''}>${text}</a>`;
  });
  return html`<nav class="ranges" aria-label="${label}"><span aria-hidden="true">${label}</span>${links}</nav>`;
}

export function toSourceParameters(choice: SourceChoice) {
  const { failingOnly, group, search, sort, page, ...filters } = choice;
  return toChosen({
    failing: failingOnly ? '1' : undefined,
    ...filters,
    q: search,
    ...toSortParameters(sort),
    group: group === undefined ? 'address' : group === 'sender' ? undefined : group,
    page: page === 1 ? undefined : String(page),
  });
}
