import { line } from 'd3-shape';
import { html } from 'hono/html';
import { type Day, toDay } from '../../../domain/instant.ts';
import { addUp, toPassRate } from '../../../domain/pass-rate.ts';
import { formatWeekday, pluralize } from '../../../domain/text.ts';
import { describePassed, formatPeriod, type Html } from '../text.ts';
import { type ChartColumn, type ChartColumns, findColumn, toPosition } from './columns.ts';
import { renderPlot, toPercent, toRateAxis } from './plot.ts';

/** In pixels: signs of one column stand above each other, towards the middle of the chart. */
const SIGN_HEIGHT = 19;

/** Columns without messages are gaps in the line. */
export function renderPassRate(
  { unit, columns, steps = [] }: ChartColumns,
  incidents: readonly Incident[],
): Html {
  const rates = columns.map((column) => (column.messages === 0 ? undefined : toPassRate(column)));
  const axis = toRateAxis(rates.filter((rate) => rate !== undefined));
  const path = line<number | undefined>()
    .defined((rate) => rate !== undefined)
    .x((_, i) => i + 0.5)
    .y((rate) => axis.toY(rate as number) * 100)
    .digits(2)(rates);
  const signsAt = new Map<number, number>();
  const renderSign = (number: number, day: Day, kind: string) => {
    const at = findColumn(columns, day);
    const rate = rates[at];
    const x = toPercent((at + 0.5) / columns.length);
    const top = rate === undefined ? 1 : axis.toY(rate);
    const y = toPercent(top);
    const sign = html`<circle class="mark ${kind}" cx="${x}" cy="${y}" r="0.55em"/><text class="mark ${kind}" x="${x}" y="${y}">${number}</text>`;
    const before = signsAt.get(at) ?? 0;
    signsAt.set(at, before + 1);
    if (before === 0) return sign;
    const side = top < 0.5 ? 1 : -1;
    return html`<g transform="translate(0 ${side * before * SIGN_HEIGHT})">${sign}</g>`;
  };
  const isGap = (i: number) => rates[i] === undefined;
  const alone = rates.map((rate, i) =>
    rate === undefined || !isGap(i - 1) || !isGap(i + 1)
      ? ''
      : html`<circle class="alone" cx="${toPercent((i + 0.5) / columns.length)}" cy="${toPercent(axis.toY(rate))}" r="0.2em"/>`,
  );
  const signs = incidents.map((incident) => {
    const { number, begins, ends } = incident;
    return html`${renderBand(columns, incident)}${begins === null ? '' : renderSign(number, begins, 'fired')}${ends === null ? '' : renderSign(number, ends, 'resolved')}`;
  });
  return renderPlot({
    title: `Pass rate by ${unit}`,
    total: describePassed(addUp(columns)),
    columns,
    steps,
    axis,
    // A line of one point would be two pixels long.
    signs: [html`${alone}`, ...signs],
    shapes: html`<path class="line" d="${path ?? ''}"/>`,
    describe: (column) => `${formatPeriod(column)}: ${describePassed(column)}`,
  });
}

function renderBand(columns: readonly ChartColumn[], { begins, ends }: Incident): Html {
  const [first, last] = [columns[0]?.from ?? '', columns.at(-1)?.to ?? ''];
  const from = begins === null ? 0 : toPosition(columns, begins < first ? first : begins);
  const to = ends === null ? 1 : toPosition(columns, ends > last ? last : ends);
  return html`<rect class="incident" x="${toPercent(from)}" width="${toPercent(Math.max(0, to - from))}" height="100%"/>`;
}

export interface Incident {
  /** From 1, as in the list under the chart. */
  readonly number: number;
  readonly title: string;
  /** The day that it fired for; null when that lies before the range. */
  readonly begins: Day | null;
  /** The day it resolved on; null when it is open, or was at the end of the range. */
  readonly ends: Day | null;
  /** When it fired and resolved. */
  readonly text: string;
}

interface Fired {
  readonly title: string;
  readonly fired_at: string;
  readonly resolved_at: string | null;
  /** The day of its figures; undefined when it is about no day. */
  readonly day: Day | undefined;
}

/** More numbers could not be told apart. */
const MAX_INCIDENTS = 9;

/** The incidents are in order of time. `more` counts the earlier ones that are left out. */
export function toIncidents(
  alerts: readonly Fired[],
  { from, to, newest }: { from: Day; to: Day; newest: Day | null },
): { incidents: Incident[]; more: number } {
  const within = alerts
    .map((alert) => {
      const { day, fired_at, resolved_at } = alert;
      return { alert, first: day ?? toDay(fired_at), last: resolved_at && toDay(resolved_at) };
    })
    // An alert about missing reports, or of a day that came late, fires after the newest day that has data.
    .filter(({ first }) => first <= to || (newest !== null && to >= newest))
    .filter(({ last }) => last === null || last >= from)
    .toSorted((a, b) => (a.first < b.first ? -1 : 1));
  const kept = within.slice(-MAX_INCIDENTS);
  const incidents = kept.map(({ alert, first, last }, i) => ({
    number: i + 1,
    title: alert.title,
    begins: first < from ? null : first > to ? to : first,
    ends: last === null || last > to ? null : last,
    text: describe(alert),
  }));
  return { incidents, more: within.length - kept.length };
}

function describe({ fired_at, resolved_at, day }: Fired): string {
  const isOwn = day === undefined || day === toDay(fired_at);
  const about = isOwn ? '' : `about ${formatWeekday(day)}, `;
  const end = resolved_at === null ? 'open' : `resolved ${formatWeekday(resolved_at)}`;
  return `${about}fired ${formatWeekday(fired_at)}, ${end}`;
}

/** `count` earlier alerts are not marked; there may be more of them unless `isAll`. */
export function renderIncidents(
  incidents: readonly Incident[],
  { count, isAll }: { readonly count: number; readonly isAll: boolean },
): Html | '' {
  if (incidents.length === 0) return '';
  const more = html`<p class="muted">${isAll ? '' : 'At least '}${pluralize(count, 'earlier alert')} of this range ${count === 1 ? 'is' : 'are'} not marked.</p>`;
  return html`<ol class="incidents" aria-label="Alerts in the chart">
    ${incidents.map(({ number, title, text }) => html`<li value="${number}"><strong>${title}</strong>: ${text}</li>`)}
  </ol>
  ${count === 0 ? '' : more}`;
}
