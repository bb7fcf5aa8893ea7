import { domainToUnicode } from 'node:url';
import type { Instant } from './instant.ts';
import { type Counts, toPassRate as toRate } from './pass-rate.ts';
import { UNSAFE } from './unsafe-characters.ts';

/* How pages and mails write times, counts, rates and texts that strangers chose. */

/** Created when first used: loading the data of these formats takes as long as all other code of the pages. */
const formats = once(() => ({
  count: new Intl.NumberFormat('en'),
  day: new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }),
  weekday: new Intl.DateTimeFormat('en-GB', { weekday: 'short', timeZone: 'UTC' }),
}));

/** “15 Mar 2026, 04:12:09 UTC”. */
export function formatTime(instant: Instant): string {
  return `${formatDay(instant)}, ${instant.slice(11, 19)} UTC`;
}

/** “15 Mar 2026”, of an instant or a day, in UTC. */
export function formatDay(instant: Instant): string {
  return formats().day.format(new Date(instant));
}

/** “Sun 15 Mar 2026”. */
export function formatWeekday(instant: Instant): string {
  return `${formats().weekday.format(new Date(instant))} ${formatDay(instant)}`;
}

export function formatCount(value: number): string {
  return formats().count.format(value);
}

/** “1 message”, “2 messages”. */
export function pluralize(value: number, one: string): string {
  return `${formatCount(value)} ${value === 1 ? one : `${one}s`}`;
}

/** A pass rate as every page, the API and the commands round it: at most two decimals (decision 98). */
export function formatPassRate(counts: Counts): string {
  return counts.messages === 0 ? '–' : formatPercentage(toRate(counts));
}

/** “98.04%” of a pass rate from 0 to 100. */
export function formatPercentage(rate: number): string {
  return `${formatCount(rate)}%`;
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

/** The longest title of a sender: a network can have any name. */
export const MAX_TITLE = 80;
export const MAX_NAME = 253;
const FROM_RIGHT = /[\p{sc=Hebr}\p{sc=Arab}\p{sc=Syrc}\p{sc=Thaa}\p{sc=Nkoo}\u0590-\u08ff]/u;

/**
 * A domain name as text: an internationalised one in Unicode with its A-labels beside it (RFC 5890). One that is
 * written from right to left has only its A-labels, because in plain text its labels would change places.
 */
export function formatDomainName(name: string): string {
  const known = toSafeText(name, MAX_NAME);
  const unicode = findUnicodeName(name);
  return unicode === undefined || FROM_RIGHT.test(unicode) ? known : `${unicode} (${known})`;
}

/** undefined for a name without A-labels, and for one whose Unicode form could deceive. */
export function findUnicodeName(name: string): string | undefined {
  if (!/(^|\.)xn--/i.test(name)) return undefined;
  const unicode = domainToUnicode(name);
  const isPlain = unicode !== '' && toSafeText(unicode, MAX_NAME) === unicode;
  return isPlain && unicode !== name.toLowerCase() ? unicode : undefined;
}

export function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
