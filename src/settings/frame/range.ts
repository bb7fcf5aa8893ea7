import type { Request } from 'express';
import { html } from 'hono/html';
import { addDays, countDays, type Day, isDay, toDay, toInstant } from '../../domain/instant.ts';
import { formatDay, pluralize } from '../../domain/text.ts';
import { type DataDays, findDataDays } from '../../store/domains/domain-reports.ts';
import { findDomain } from '../../store/domains/overview.ts';
import type { DomainOfAccount } from '../../store/lists/heads.ts';
import type { SettingsDeps } from '../deps.ts';
import { readQuery } from '../request.ts';
import { renderHiddenFields } from './forms.ts';
import { formatPeriod, type Html } from './text.ts';

/** A choice is a number of days, of which the last is the newest day that has data. */
const CHOICES = [7, 30, 90, 365] as const;
type Choice = (typeof CHOICES)[number];
const DEFAULT: Choice = 30;

const TEN_YEARS = { days: 3_660, text: 'A range has ten years at most' };
/** A page that adds up what each address sent shows no more (decision 95). */
export const ONE_YEAR = { days: 366, text: 'This list has 366 days at most' };

/** Both ends included. */
export interface DomainRange extends DataDays {
  readonly from: Day;
  readonly to: Day;
  readonly choice: Choice | 'custom';
  /** Why this is not the requested range. */
  readonly notice: string | null;
}

/**
 * Whether no report came before the range, so that its first days are the first of all: looking for those would read every
 * stored day.
 */
export function beginsBeforeData({ from, oldest }: DomainRange): boolean {
  return oldest !== null && from <= oldest;
}

/**
 * The range of `?days=30` or `?from=2026-01-01&to=2026-01-31`. An unreadable one gives the default, one that is too
 * long its last days, both with a notice. Reports lag by days, so a range ends with the newest day that has data, or
 * today.
 */
export function readRange(
  req: Request,
  dataDays: DataDays,
  now: Date,
  longest = TEN_YEARS,
): DomainRange {
  const [days = '', from = '', to = ''] = ['days', 'from', 'to'].map((name) =>
    readQuery(req, name),
  );
  const end = dataDays.newest ?? toDay(toInstant(now));
  if (from !== '' || to !== '') return { ...dataDays, ...parseDays({ from, to }, end, longest) };
  const choice = CHOICES.find((known) => String(known) === days);
  const notice = `“${days.slice(0, 20)}” is no range: these are ${DEFAULT} days.`;
  const isKnown = choice !== undefined || days === '';
  return { ...dataDays, ...lastDays(choice ?? DEFAULT, end), notice: isKnown ? null : notice };
}

/** The domain that a path names, and the days of it that are asked for. */
export async function readDomainRange(
  { store: { reader }, now }: SettingsDeps,
  req: Request,
  { scope, longest = TEN_YEARS }: { scope: DomainOfAccount; longest?: typeof TEN_YEARS },
) {
  const domain = await findDomain(reader, scope);
  const at = now();
  const dataDays = await findDataDays(reader, scope, toDay(toInstant(at)));
  const range = readRange(req, dataDays, at, longest);
  return { domain, range };
}

type Chosen = Omit<DomainRange, keyof DataDays>;

function lastDays(choice: Choice, to: Day): Chosen {
  return { from: addDays(to, 1 - choice), to, choice, notice: null };
}

function parseDays(
  { from, to }: { from: Day; to: Day },
  end: Day,
  longest: typeof TEN_YEARS,
): Chosen {
  const instead = `these are ${DEFAULT} days.`;
  const byDefault = lastDays(DEFAULT, end);
  if (!isDay(from) || !isDay(to) || from < '1980' || to >= '9999')
    return { ...byDefault, notice: `A range needs two days, such as ${end}: ${instead}` };
  if (from > to) return { ...byDefault, notice: `The range ends before it begins: ${instead}` };
  const earliest = addDays(to, 1 - longest.days);
  if (from >= earliest) return { from, to, choice: 'custom', notice: null };
  const notice = `${longest.text}: this one begins on ${formatDay(earliest)}.`;
  return { from: earliest, to, choice: 'custom', notice };
}

type QueryFields = Readonly<Record<string, string>>;

/** Without a question mark: `days=90`. */
export function toRangeQuery(range: DomainRange, other: QueryFields = {}): string {
  const { choice, from, to } = range;
  const days = choice === 'custom' ? { from, to } : { days: String(choice) };
  return new URLSearchParams({ ...other, ...days }).toString();
}

/** The links and the form keep the page's other parameters. */
export function renderRanges(path: string, range: DomainRange, other: QueryFields = {}): Html {
  return html`<div class="range">
    ${renderChoices(path, range, other)}
    <form method="get" action="${path}" class="dates" aria-label="Any range">
      ${renderHiddenFields(other)}
      <input type="date" name="from" value="${range.from}" required aria-label="From">
      <span aria-hidden="true">–</span>
      <input type="date" name="to" value="${range.to}" required aria-label="To, included">
      <button class="secondary">Show</button>
    </form>
  </div>
  ${renderDays(range)}`;
}

interface FilterForm {
  /** The page's other parameters, which the links keep. */
  readonly other: QueryFields;
  /** Fields of the query that the form does not show. */
  readonly hidden: QueryFields;
  /** Each field with its label in a `div`. */
  readonly fields: readonly Html[];
}

/** The range of a list that has a filter: one form with all fields. */
export function renderFilter(path: string, range: DomainRange, form: FilterForm): Html {
  return html`<div class="range">${renderChoices(path, range, form.other)}</div>
  <form method="get" action="${path}" class="filter">
    ${renderHiddenFields(form.hidden)}
    ${form.fields}
    <div><label for="from">From</label><input id="from" type="date" name="from" value="${range.from}" required></div>
    <div><label for="to">To</label><input id="to" type="date" name="to" value="${range.to}" required></div>
    <div class="go"><button class="secondary">Show</button></div>
  </form>
  ${renderDays(range)}`;
}

function renderChoices(path: string, range: DomainRange, other: QueryFields): Html {
  const links = CHOICES.map((choice) => {
    const query = toRangeQuery({ ...range, choice }, other);
    const text = choice === 365 ? '1 year' : `${choice} days`;
    return html`<a href="${path}?${query}" ${choice === range.choice ? html`aria-current="true"` : ''}>${text}</a>`;
  });
  return html`<nav class="ranges" aria-label="Range">${links}</nav>`;
}

function renderDays(range: DomainRange): Html {
  return html`${range.notice === null ? '' : html`<p class="wrong" role="alert">${range.notice}</p>`}
  <p class="muted days">${formatPeriod(range)}. Days are UTC; a report counts on the day on which it begins.</p>`;
}

export function renderEmptyRange(path: string, range: DomainRange, other: QueryFields = {}): Html {
  const { newest: to } = range;
  if (to === null) return html`<p class="empty">No report has come in yet.</p>`;
  const count = countDays(range);
  const custom = { ...range, choice: 'custom', from: addDays(to, 1 - count), to } as const;
  return html`<p class="empty">No report covers this range; the newest is of ${formatDay(to)}.
    <a href="${path}?${toRangeQuery(custom, other)}">Show the ${pluralize(count, 'day')} up to then</a></p>`;
}

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
