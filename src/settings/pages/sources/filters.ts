import { html } from 'hono/html';
import type { SettingsDeps } from '../../deps.ts';
import { type DomainRange, toRangeQuery } from '../../frame/range.ts';
import type { Html } from '../../frame/text.ts';
import { type Choice, toParameters } from './choice.ts';
import type { Found } from './find-sources.ts';

export interface ListView {
  readonly path: string;
  readonly domainId: string;
  readonly range: DomainRange;
  readonly choice: Choice;
  readonly found: Found;
  readonly perPage: number;
}

/** The path of the same list with another choice, which begins with its first page. */
export function toListPath({ path, range, choice }: ListView, change: Partial<Choice>): string {
  const parameters = toParameters({ ...choice, page: 1, ...change });
  return `${path}?${toRangeQuery(range, parameters)}`;
}

type Option = readonly [text: string, change: Partial<Choice>];

const SHOWN: readonly Option[] = [
  ['All', { failingOnly: false }],
  ['Failing only', { failingOnly: true }],
];
const GROUPED: Readonly<Record<'addresses' | 'network' | 'organisation', Option>> = {
  addresses: ['Addresses', { group: undefined, within: undefined }],
  network: ['Networks', { group: 'network', within: undefined }],
  organisation: ['Organisations', { group: 'organisation', within: undefined }],
};
const MARKED: readonly Option[] = [
  ['All', { mark: undefined }],
  ['Legitimate', { mark: 'legitimate' }],
  ['Unknown', { mark: 'unknown' }],
  ['Unmarked', { mark: 'unmarked' }],
];

/** Links to other choices. Groups need a database of networks, or names that are looked up. */
export function renderFilters(view: ListView, { findNetwork, dnsChecks }: SettingsDeps): Html {
  const grouped = [
    GROUPED.addresses,
    ...(findNetwork === undefined ? [] : [GROUPED.network]),
    ...(dnsChecks ? [GROUPED.organisation] : []),
  ];
  return html`<div class="filters">
    ${renderOptions('Show', SHOWN, view)}
    ${grouped.length > 1 ? renderOptions('By', grouped, view) : ''}
    ${renderOptions('Marked', MARKED, view)}
  </div>`;
}

function renderOptions(label: string, options: readonly Option[], view: ListView): Html {
  const links = options.map(([text, change]) => {
    const isCurrent = Object.entries(change).every(
      ([name, value]) => name === 'within' || view.choice[name as keyof Choice] === value,
    );
    return html`<a href="${toListPath(view, change)}" ${isCurrent ? html`aria-current="true"` : ''}>${text}</a>`;
  });
  return html`<nav class="ranges" aria-label="${label}"><span aria-hidden="true">${label}</span>${links}</nav>`;
}
