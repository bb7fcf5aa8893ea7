import { scaleLinear, scaleUtc } from 'd3-scale';
import { utcDay } from 'd3-time';
import { html } from 'hono/html';
import type { PolicyStep } from '../../../domain/dns/policy-steps.ts';
import { addDays, countDays, type Day } from '../../../domain/instant.ts';
import { formatWeekday } from '../../../domain/text.ts';
import { formatAxisDays, formatShortCount, type Html } from '../text.ts';
import { type ChartColumn, type ChartColumns, toPosition } from './columns.ts';

interface Plot extends Omit<ChartColumns, 'unit'> {
  readonly title: string;
  /** All columns as text, shown above the chart while no column is pointed at. */
  readonly total: string;
  readonly axis: Axis;
  /** Their units are columns from the left and hundredths from the top; they are stretched to the chart's size. */
  readonly shapes: Html;
  /** Shapes that keep their form, placed in percent. */
  readonly signs?: readonly Html[];
  /** The values of a column, shown while it is pointed at. */
  readonly describe: (column: ChartColumn) => string;
}

/**
 * Only the inner drawing is stretched, not the text. CSS alone shows the values of the column that is pointed at. The
 * chart is one tab stop; with scripts, arrow keys go from column to column (settings.js).
 */
export function renderPlot({ title, total, columns, axis, ...rest }: Plot): Html {
  const { shapes, signs = [], steps = [], describe } = rest;
  return html`<figure class="chart">
    <figcaption>${title}${axis.from === 0 ? '' : `, from ${axis.from}%`}</figcaption>
    <svg class="plot" role="img" aria-label="${title}; in all ${total}" tabindex="0" data-chart>
      <text class="value total" x="100%" y="-0.75em">${total}</text>
      ${axis.ticks.map(renderLine)}
      ${axis.from === 0 ? '' : html`<text class="break" x="0" y="100%" aria-hidden="true">≈</text>`}
      ${toDateTicks(columns).map(renderDate)}
      <svg viewBox="0 0 ${columns.length} 100" preserveAspectRatio="none">${shapes}</svg>
      ${signs}
      ${columns.map((column, i) => renderColumn({ i, count: columns.length }, describe(column)))}
      ${steps.map((step) => {
        const x = toPercent(toPosition(columns, step.day));
        return html`<line class="step" x1="${x}" x2="${x}" y2="100%"><title>${describePolicyStep(step)}</title></line>`;
      })}
    </svg>
    <p class="unseen" aria-live="polite"></p>
  </figure>`;
}

/** “Policy: p=none → p=quarantine, Tue 3 Nov 2026 (seen in reports)”. */
export function describePolicyStep({ day, former, policy, by }: PolicyStep): string {
  const [before, after] = [former, policy].map((tags) => tags?.replaceAll(';', ',') ?? 'no record');
  const where = by === 'dns' ? 'DNS' : 'reports';
  return `Policy: ${before} → ${after}, ${formatWeekday(day)} (seen in ${where})`;
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

export function toPercent(share: number): string {
  return `${Math.round(share * 10_000) / 100}%`;
}

/** A label at an axis, and where: from 0 (left or top) to 1. */
interface Tick {
  readonly at: number;
  readonly text: string;
}

/** A value's height, from 0 (top) to 1, and the labels beside the axis. */
interface Axis {
  readonly toY: (value: number) => number;
  /** Its lowest value. Where that is not 0, the axis has a sign that says so. */
  readonly from: number;
  readonly ticks: readonly Tick[];
}

const TICKS = 5;
/** An axis may begin at these: a fall from 99 % to 97 % has to be visible. */
const FLOORS = [90, 80, 50];

export function toRateAxis(rates: readonly number[]): Axis {
  const floor = FLOORS.find((known) => rates.every((rate) => rate >= known)) ?? 0;
  const scale = scaleLinear([floor, 100], [1, 0]);
  const ticks = scale.ticks(TICKS).map((at) => ({ at: scale(at), text: `${at}%` }));
  return { toY: scale, from: floor, ticks };
}

export function toCountAxis(counts: readonly number[]): Axis {
  const scale = scaleLinear([0, Math.max(1, ...counts)], [1, 0]).nice(TICKS - 1);
  const ticks = scale.ticks(TICKS - 1).filter(Number.isInteger);
  const labelled = ticks.map((at) => ({ at: scale(at), text: formatShortCount(at) }));
  return { toY: scale, from: 0, ticks: labelled };
}

/**
 * At the beginnings of days, weeks, months or years, by the length of the range.
 *
 * @internal A test calls it for ranges of every length.
 */
export function toDateTicks(columns: readonly ChartColumn[]): Tick[] {
  const [from, to] = [columns[0]?.from, columns.at(-1)?.to];
  if (from === undefined || to === undefined) return [];
  const days = findDates(from, to).map((date) => date.toISOString().slice(0, 10));
  const texts = formatAxisDays(days);
  return days.map((day, i) => ({ at: toPosition(columns, day), text: texts[i] as string }));
}

function findDates(from: Day, to: Day): Date[] {
  const [first, end] = [new Date(from), new Date(addDays(to, 1))];
  const count = countDays({ from, to });
  // scaleUtc begins again with each month: labels of neighbouring days would overlap.
  if (count <= 14) return utcDay.range(first, end, Math.ceil(count / TICKS));
  return scaleUtc([first, end], [0, 1])
    .ticks(TICKS - 1)
    .filter((date) => date < end);
}
