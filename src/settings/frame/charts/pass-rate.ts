import { line } from 'd3-shape';
import { html } from 'hono/html';
import { addUp, toPassRate } from '../../../domain/alerts/rate.ts';
import { describePassed, formatPeriod, type Html } from '../text.ts';
import { toRateAxis } from './axes.ts';
import { type Column, type Columns, findColumn, toPosition } from './columns.ts';
import type { Incident } from './incidents.ts';
import { renderPlot, toPercent } from './plot.ts';

/** The pass rate as a line; columns without messages are gaps. Incidents are marked where they fired and resolved. */
export function renderPassRate({ unit, columns }: Columns, incidents: readonly Incident[]): Html {
  const rates = columns.map((column) => (column.messages === 0 ? undefined : toPassRate(column)));
  const axis = toRateAxis(rates.filter((rate) => rate !== undefined));
  const path = line<number | undefined>()
    .defined((rate) => rate !== undefined)
    .x((_, i) => i + 0.5)
    .y((rate) => axis.toY(rate as number) * 100)
    .digits(2)(rates);
  const toMark = (incident: Incident, day: string, kind: string) => {
    const at = findColumn(columns, day);
    const rate = rates[at];
    const y = rate === undefined ? 1 : axis.toY(rate);
    return renderMark({ x: (at + 0.5) / columns.length, y, kind, number: incident.number });
  };
  const marks = incidents.flatMap((incident) => [
    renderBand(columns, incident),
    incident.begins === null ? html`` : toMark(incident, incident.begins, 'fired'),
    incident.ends === null ? html`` : toMark(incident, incident.ends, 'resolved'),
  ]);
  const all = describePassed(addUp(columns));
  return renderPlot({
    ...{
      caption: `Pass rate by ${unit}`,
      words: `Pass rate by ${unit}; in all ${all}`,
      total: all,
    },
    ...{ columns, axis, marks },
    shapes: html`<path class="line" d="${path ?? ''}"/>`,
    tell: (column) => `${formatPeriod(column)}: ${describePassed(column)}`,
  });
}

/** The days that an incident lasted, behind the line. */
function renderBand(columns: readonly Column[], { begins, ends }: Incident): Html {
  const [first, last] = [columns[0]?.from ?? '', columns.at(-1)?.to ?? ''];
  const from = begins === null ? 0 : toPosition(columns, begins < first ? first : begins);
  const to = ends === null ? 1 : toPosition(columns, ends > last ? last : ends);
  return html`<rect class="incident" x="${toPercent(from)}" width="${toPercent(Math.max(0, to - from))}" height="100%"/>`;
}

interface Mark {
  readonly x: number;
  readonly y: number;
  readonly kind: string;
  readonly number: number;
}

/** A numbered circle: the list under the chart has the number's words. */
function renderMark({ x, y, kind, number }: Mark): Html {
  const [cx, cy] = [toPercent(x), toPercent(y)];
  return html`<circle class="mark ${kind}" cx="${cx}" cy="${cy}" r="0.55em"/><text class="mark ${kind}" x="${cx}" y="${cy}">${number}</text>`;
}
