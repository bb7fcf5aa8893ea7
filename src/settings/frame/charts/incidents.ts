import { html } from 'hono/html';
import type { Day } from '../../../domain/instant.ts';
import { formatDay, type Html, pluralize } from '../text.ts';

/** An alert as a chart marks it. */
export interface Incident {
  /** From 1, as the list under the chart counts. */
  readonly number: number;
  readonly title: string;
  /** The day that it fired for; null when that lies before the range. */
  readonly begins: Day | null;
  /** The day it resolved on; null when it is open, or was at the end of the range. */
  readonly ends: Day | null;
  /** When it fired and resolved, in words. */
  readonly words: string;
}

interface Fired {
  readonly title: string;
  readonly fired_at: string;
  readonly resolved_at: string | null;
  /** The day that its figures are about, when it is about a day. */
  readonly day: Day | undefined;
}

/** More numbers could not be told apart. */
const MAX_INCIDENTS = 9;

/** The alerts of a range as incidents, in their order of time, and how many more there were. */
export function toIncidents(
  alerts: readonly Fired[],
  { from, to, newest }: { from: Day; to: Day; newest: Day | null },
): { incidents: Incident[]; more: number } {
  const within = alerts
    .map((alert) => ({ ...alert, first: alert.day ?? alert.fired_at.slice(0, 10) }))
    // An alert about missing reports, or of a day that came late, fires after the newest day that has data.
    .filter(({ first }) => first <= to || (newest !== null && to >= newest))
    .filter(({ resolved_at }) => resolved_at === null || resolved_at.slice(0, 10) >= from)
    .toSorted((a, b) => (a.first < b.first ? -1 : 1));
  const kept = within.slice(-MAX_INCIDENTS);
  const incidents = kept.map(({ first, ...alert }, i) => ({
    number: i + 1,
    title: alert.title,
    begins: first < from ? null : first > to ? to : first,
    ends: toEnd(alert, to),
    words: tell(alert),
  }));
  return { incidents, more: within.length - kept.length };
}

function toEnd({ resolved_at }: Fired, to: Day): Day | null {
  const day = resolved_at?.slice(0, 10) ?? null;
  return day === null || day > to ? null : day;
}

function tell({ fired_at, resolved_at, day }: Fired): string {
  const isOwn = day === undefined || day === fired_at.slice(0, 10);
  const about = isOwn ? '' : `about ${formatDay(day)}, `;
  const end = resolved_at === null ? 'open' : `resolved ${formatDay(resolved_at)}`;
  return `${about}fired ${formatDay(fired_at)}, ${end}`;
}

/** Alerts that the chart does not mark. */
interface Unmarked {
  readonly count: number;
  /** Whether there are no more than these. */
  readonly isAll: boolean;
}

/** The words of the numbers in the chart. */
export function renderIncidents(incidents: readonly Incident[], more: Unmarked): Html | '' {
  if (incidents.length === 0) return '';
  return html`<ol class="incidents" aria-label="Alerts in the chart">
    ${incidents.map(({ number, title, words }) => html`<li value="${number}"><strong>${title}</strong>: ${words}</li>`)}
  </ol>
  ${more.count === 0 ? '' : renderUnmarked(more)}`;
}

function renderUnmarked({ count, isAll }: Unmarked): Html {
  const number = pluralize(count, 'earlier alert');
  return html`<p class="muted">${isAll ? '' : 'At least '}${number} of this range ${count === 1 ? 'is' : 'are'} not marked.</p>`;
}
