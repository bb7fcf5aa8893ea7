import { html } from 'hono/html';
import type { Html } from '../text.ts';
import { type Axis, type Tick, toDateTicks } from './axes.ts';
import type { Column } from './columns.ts';

export interface Plot {
  readonly caption: string;
  /** The whole chart in words, for those who do not see it. */
  readonly words: string;
  /** Shown above the chart while no column is pointed at. */
  readonly total: string;
  readonly columns: readonly Column[];
  readonly axis: Axis;
  /** In units of columns from the left and of hundredths from the top; stretched to the chart's size. */
  readonly shapes: Html;
  /** Shapes that keep their form, placed in percent. */
  readonly marks?: readonly Html[];
  /** The values of a column, shown while it is pointed at. */
  readonly tell: (column: Column) => string;
}

/**
 * A chart with axes. Text is not stretched: only the inner drawing is. The column that is pointed at shows its values
 * by CSS alone; the chart is one stop of the tab key, and with scripts arrow keys go from column to column
 * (settings.js).
 */
export function renderPlot({ caption, words, total, columns, axis, ...rest }: Plot): Html {
  const { shapes, marks = [], tell } = rest;
  return html`<figure class="chart">
    <figcaption>${caption}</figcaption>
    <svg class="plot" role="img" aria-label="${words}" tabindex="0" data-chart>
      <text class="value total" x="100%" y="-0.75em">${total}</text>
      ${axis.ticks.map(renderLine)}
      ${toDateTicks(columns).map(renderDate)}
      <svg viewBox="0 0 ${columns.length} 100" preserveAspectRatio="none">${shapes}</svg>
      ${marks}
      ${columns.map((column, i) => renderColumn({ i, count: columns.length }, tell(column)))}
    </svg>
    <p class="unseen" aria-live="polite"></p>
  </figure>`;
}

function renderLine({ at, text }: Tick): Html {
  const y = toPercent(at);
  return html`<line class="grid" x2="100%" y1="${y}" y2="${y}"/><text class="tick y" x="-0.5em" y="${y}">${text}</text>`;
}

function renderDate({ at, text }: Tick, i: number): Html {
  const side = at < 0.08 ? ' first' : at > 0.92 ? ' last' : '';
  return html`<text class="tick x${side}${i % 2 === 1 ? ' odd' : ''}" x="${toPercent(at)}" y="100%">${text}</text>`;
}

function renderColumn({ i, count }: { i: number; count: number }, text: string): Html {
  return html`<g class="column"><rect x="${toPercent(i / count)}" width="${toPercent(1 / count)}" height="100%"/><text class="value" x="100%" y="-0.75em">${text}</text></g>`;
}

/** A share as a percentage for SVG, with at most two decimals. */
export function toPercent(share: number): string {
  return `${Math.round(share * 10_000) / 100}%`;
}
