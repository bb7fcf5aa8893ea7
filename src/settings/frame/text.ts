import { domainToUnicode } from 'node:url';
import { html } from 'hono/html';
import { type Counts, toPassRate as toRate } from '../../domain/alerts/rate.ts';
import type { Day, Instant } from '../../domain/instant.ts';
import { UNSAFE } from '../../domain/unsafe-characters.ts';

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
  count: new Intl.NumberFormat('en'),
  short: new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 }),
  day: new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }),
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

/** “15 Mar 2026, 04:12:09 UTC”. */
export function formatTime(instant: Instant): string {
  return `${formatDay(instant)}, ${instant.slice(11, 19)} UTC`;
}

/** “15 Mar 2026”, of an instant or a day, in UTC. */
export function formatDay(instant: Instant): string {
  return formats().day.format(new Date(instant));
}

export function formatCount(value: number): string {
  return formats().count.format(value);
}

/** “1 message”, “2 messages”. */
export function pluralize(value: number, one: string): string {
  return `${formatCount(value)} ${value === 1 ? one : `${one}s`}`;
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

/** “9 – 15 Mar 2026”, or one day. `formatRange` takes 50 times as long, and a chart has up to 120 periods. */
export function formatPeriod({ from, to }: { readonly from: Day; readonly to: Day }): string {
  if (from === to) return formatDay(to);
  const isSame = (part: string) => from.slice(0, part.length) === to.slice(0, part.length);
  if (isSame('2026-03')) return `${Number(from.slice(8))} – ${formatDay(to)}`;
  const begin = isSame('2026') ? formats().dayOnly.format(new Date(from)) : formatDay(from);
  return `${begin} – ${formatDay(to)}`;
}

/** A pass rate as every page, the API and the commands round it: at most two decimals (decision 98). */
export function formatPassRate(counts: Counts): string {
  return counts.messages === 0 ? '–' : formatPercentage(toRate(counts));
}

/** “98.04%” of a pass rate from 0 to 100. */
export function formatPercentage(rate: number): string {
  return `${formatCount(rate)}%`;
}

/** “98.04% of 816 messages passed”. */
export function describePassed(counts: Counts): string {
  if (counts.messages === 0) return 'no messages';
  return `${formatPassRate(counts)} of ${pluralize(counts.messages, 'message')} passed`;
}

/** “816 messages, 16 failed”. */
export function describeFailed({ messages, aligned }: Counts): string {
  if (messages === 0) return 'no messages';
  return `${pluralize(messages, 'message')}, ${formatCount(messages - aligned)} failed`;
}

/** Variation selectors choose between pictures of one character. */
const SELECTORS = /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu;
/** More than three combining marks on one letter would be drawn over the lines above and below. */
const COMBINING_MARKS = /(\p{M}{3})\p{M}+/gu;

/**
 * A stored text for a page, on one line: what would change the text around it becomes “\ufffd”, blanks of any kind
 * become one, and more than `maxLength` characters are cut with an ellipsis. It is not escaped: `html` does that.
 */
export function toSafeText(text: string, maxLength = 200): string {
  // Never more of a long text than is needed: most characters have one or two units.
  const part = text.slice(0, 4 * maxLength + 4).toWellFormed();
  const line = part.replace(/\s+/g, ' ').trim();
  const safe = line.replace(SELECTORS, '').replace(UNSAFE, '\ufffd').replace(COMBINING_MARKS, '$1');
  const characters = [...safe];
  if (characters.length <= maxLength && part.length >= text.length) return safe;
  return `${characters.slice(0, maxLength - 1).join('')}…`;
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

/** Like `toSafeText`, and isolated: text from right to left cannot reorder the page around it. */
export function renderText(text: string, maxLength?: number): Html {
  return html`<bdi>${toSafeText(text, maxLength)}</bdi>`;
}

const MAX_NAME = 253;
const FROM_RIGHT = /[\p{sc=Hebr}\p{sc=Arab}\p{sc=Syrc}\p{sc=Thaa}\p{sc=Nkoo}\u0590-\u08ff]/u;

/**
 * A domain name as text: an internationalised one in Unicode with its A-labels beside it (RFC 5890). One that is
 * written from right to left has only its A-labels, because in plain text its labels would change places.
 */
export function formatDomainName(name: string): string {
  const known = toSafeText(name, MAX_NAME);
  const unicode = findUnicode(name);
  return unicode === undefined || FROM_RIGHT.test(unicode) ? known : `${unicode} (${known})`;
}

/** Labels keep their places in any direction of writing. */
export function renderDomainName(name: string): Html {
  const known = toSafeText(name, MAX_NAME);
  const unicode = findUnicode(name);
  if (unicode === undefined) return html`${known}`;
  const labels = unicode
    .split('.')
    .map((label, i) => html`${i === 0 ? '' : '.'}<bdi>${label}</bdi>`);
  return html`<span class="idn">${labels} <small>${known}</small></span>`;
}

/** undefined for a name without A-labels, and for one whose Unicode form could deceive. */
function findUnicode(name: string): string | undefined {
  if (!/(^|\.)xn--/i.test(name)) return undefined;
  const unicode = domainToUnicode(name);
  const isPlain = unicode !== '' && toSafeText(unicode, MAX_NAME) === unicode;
  return isPlain && unicode !== name.toLowerCase() ? unicode : undefined;
}

function createDateFormat(parts: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-GB', { ...parts, timeZone: 'UTC' });
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
