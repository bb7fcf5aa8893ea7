import { html } from 'hono/html';
import type { Instant } from '../../domain/instant.ts';
import type { Html } from './page.ts';

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** Made for the first page, because Node loads the data of its formats as long as all other code of the pages. */
const formats = once(() => ({
  relative: new Intl.RelativeTimeFormat('en', { numeric: 'auto' }),
  count: new Intl.NumberFormat('en'),
  day: new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }),
}));

/** An instant in relative form, with the exact time as its title. */
export function renderTime(instant: Instant, now: Date): Html {
  return html`<time datetime="${instant}" title="${toExact(instant)}">${toRelative(instant, now)}</time>`;
}

/** “3 minutes ago”. */
function toRelative(instant: Instant, now: Date): string {
  const seconds = (Date.parse(instant) - now.getTime()) / 1000;
  const unit = UNITS.find(([, size]) => Math.abs(seconds) >= size);
  if (unit === undefined) return 'just now';
  return formats().relative.format(Math.trunc(seconds / unit[1]), unit[0]);
}

/** “15 Mar 2026, 04:12:09 UTC”. */
export function toExact(instant: Instant): string {
  return `${toDate(instant)}, ${instant.slice(11, 19)} UTC`;
}

/** “15 Mar 2026”, of an instant or a day, in UTC. */
export function toDate(instant: Instant): string {
  return formats().day.format(new Date(instant));
}

/** “12,345”. */
export function toCount(value: number): string {
  return formats().count.format(value);
}

/** “1 message”, “2 messages”. */
export function toCounted(value: number, one: string): string {
  return `${toCount(value)} ${value === 1 ? one : `${one}s`}`;
}

/** Pass rates are rounded down: 100% means that every message passed. */
export function toPassRate({ messages, aligned }: { messages: number; aligned: number }): string {
  if (messages === 0) return '–';
  return `${(Math.floor((aligned / messages) * 1000) / 10).toFixed(1)}%`;
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
