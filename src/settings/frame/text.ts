import { html } from 'hono/html';
import type { Day, Instant } from '../../domain/instant.ts';
import { type Counts, toPassRate } from '../../domain/pass-rate.ts';
import {
  findUnicodeName,
  formatCount,
  formatDay,
  formatPassRate,
  formatTime,
  formatWeekday,
  MAX_NAME,
  once,
  pluralize,
  toSafeText,
} from '../../domain/text.ts';

/** Markup with escaped values; `hono/html` makes no other. */
export type Html = ReturnType<typeof html>;

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** Created for the first page: loading the data of these formats takes as long as all other code of the pages. */
const formats = once(() => ({
  relative: new Intl.RelativeTimeFormat('en', { numeric: 'auto' }),
  short: new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 }),
  dayOnly: createDateFormat({ day: 'numeric', month: 'short' }),
  month: createDateFormat({ month: 'short', year: 'numeric' }),
  year: createDateFormat({ year: 'numeric' }),
}));

export function renderTime(instant: Instant, now: Date): Html {
  return html`<time datetime="${instant}" title="${formatTime(instant)}">${formatRelative(instant, now)}</time>`;
}

function formatRelative(instant: Instant, now: Date): string {
  const seconds = (Date.parse(instant) - now.getTime()) / 1000;
  const unit = UNITS.find(([, size]) => Math.abs(seconds) >= size);
  if (unit === undefined) return 'just now';
  return formats().relative.format(Math.trunc(seconds / unit[1]), unit[0]);
}

/** “1.5K”: round numbers at an axis. */
export function formatShortCount(value: number): string {
  return value < 10_000 ? formatCount(value) : formats().short.format(value);
}

/** Years, months, or days of a month, whichever tell the days apart. */
export function formatAxisDays(days: readonly Day[]): string[] {
  const { year, month, dayOnly } = formats();
  const isEach = (end: string) => days.length > 1 && days.every((day) => day.endsWith(end));
  const format = isEach('-01-01') ? year : isEach('-01') ? month : dayOnly;
  return days.map((day) => format.format(new Date(day)));
}

/** “9 – 15 Mar 2026”, or one day with its weekday. `formatRange` takes 50 times as long, and a chart has up to 120 periods. */
export function formatPeriod({ from, to }: { readonly from: Day; readonly to: Day }): string {
  if (from === to) return formatWeekday(to);
  const isSame = (part: string) => from.slice(0, part.length) === to.slice(0, part.length);
  if (isSame('2026-03')) return `${Number(from.slice(8))} – ${formatDay(to)}`;
  const begin = isSame('2026') ? formats().dayOnly.format(new Date(from)) : formatDay(from);
  return `${begin} – ${formatDay(to)}`;
}

/** “98.90%”: in a column, numbers with as many decimals can be compared. */
export function formatRateInColumn(counts: Counts): string {
  return counts.messages === 0 ? '–' : `${toPassRate(counts).toFixed(2)}%`;
}

/** “98.04% of 816 messages passed”. */
export function describePassed(counts: Counts): string {
  if (counts.messages === 0) return 'no messages';
  return `${formatPassRate(counts)} of ${pluralize(counts.messages, 'message')} passed`;
}

/** “98.04% of 816 messages passed DMARC”, as a page's headline. */
export function renderPassed(counts: Counts): Html {
  const { messages } = counts;
  return html`<b>${formatPassRate(counts)}</b> of <b>${formatCount(messages)}</b> ${messages === 1 ? 'message' : 'messages'} passed DMARC`;
}

/** “816 messages, 16 failed”. */
export function describeFailed({ messages, aligned }: Counts): string {
  if (messages === 0) return 'no messages';
  return `${pluralize(messages, 'message')}, ${formatCount(messages - aligned)} failed`;
}

/** Markup has line breaks and tabs of its own. */
const NEVER = /(?![\t\n\r])[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu;

/** No page of ours needs these characters, so text that did not go through `toSafeText` does no harm either. */
export function toSafePage(page: string): string {
  return page.replace(NEVER, '\ufffd');
}

/** A value without a label stays as it is. */
export function labelOf(labels: Readonly<Record<string, string>>, value: string): string {
  return Object.hasOwn(labels, value) ? (labels[value] as string) : value;
}

const DISPOSITIONS: Readonly<Record<string, string>> = {
  none: 'no action',
  pass: 'no action',
  quarantine: 'quarantined',
  reject: 'rejected',
};

/** What a receiver did with messages because of DMARC; others are named as they were reported. */
export function describeDisposition(disposition: string | null): string {
  return disposition === null ? 'not stated' : labelOf(DISPOSITIONS, disposition);
}

/** The text is safe, and isolated: text from right to left cannot reorder the page around it. */
export function renderText(text: string, maxLength?: number): Html {
  return html`<bdi>${toSafeText(text, maxLength)}</bdi>`;
}

/** Labels keep their places in any direction of writing. */
export function renderDomainName(name: string): Html {
  const known = toSafeText(name, MAX_NAME);
  const unicode = findUnicodeName(name);
  if (unicode === undefined) return html`${known}`;
  const labels = unicode
    .split('.')
    .map((label, i) => html`${i === 0 ? '' : '.'}<bdi>${label}</bdi>`);
  return html`<span class="idn">${labels} <small>${known}</small></span>`;
}

function createDateFormat(parts: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-GB', { ...parts, timeZone: 'UTC' });
}
