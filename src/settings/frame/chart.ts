import { html } from 'hono/html';
import type { Day } from '../../domain/instant.ts';
import type { Html } from './page.ts';
import { toCount, toDate, toPassRate } from './words.ts';

/** One column of a chart: a day and the totals of its reports; 0 messages when there are none. */
export interface ChartDay {
  readonly day: Day;
  readonly messages: number;
  readonly aligned: number;
}

const DAY_MS = 86_400_000;

/** The first of `count` days that end with today. */
export function firstDay(now: Date, count: number): Day {
  return new Date(now.getTime() - (count - 1) * DAY_MS).toISOString().slice(0, 10);
}

/** Every day from the first one to today in order, including days without reports. */
export function toChartDays(
  rows: readonly ChartDay[],
  { now, count }: { now: Date; count: number },
): ChartDay[] {
  const known = new Map(rows.map((row) => [row.day, row]));
  return Array.from({ length: count }, (_, i) => {
    const day = firstDay(now, count - i);
    return known.get(day) ?? { day, messages: 0, aligned: 0 };
  });
}

export function sum(days: readonly ChartDay[]): { messages: number; aligned: number } {
  return {
    messages: days.reduce((total, { messages }) => total + messages, 0),
    aligned: days.reduce((total, { aligned }) => total + aligned, 0),
  };
}

/** A day's column is 4 wide with a gap of 2, in a chart of height 100 that CSS stretches. */
const [STEP, BAR, HEIGHT] = [6, 4, 100];
/** The minimum height of failures in a column, so that one in a thousand is visible. */
const MIN_FAILED = 4;

/** Pass rates of some days as a small chart: passed messages below, failed ones above. */
export function renderSparkline(days: readonly ChartDay[], name: string): Html {
  const bars = days.map(({ messages, aligned }, i) => {
    if (messages === 0) return renderBar('none', { i, y: HEIGHT - 4, height: 4 });
    const failed = toShare(messages - aligned, messages, MIN_FAILED);
    return renderStack({ i, top: 0, failed, passed: HEIGHT - failed });
  });
  const words = `Pass rate of ${name}, ${days.length} days: ${toPassRate(sum(days))}`;
  return renderSvg({ kind: 'spark', columns: days.length, words }, bars);
}

/** Messages per day: passed ones below, failed ones above; the height shows the number. */
export function renderVolume(days: readonly ChartDay[]): Html {
  const most = Math.max(1, ...days.map(({ messages }) => messages));
  const bars = days.map(({ messages, aligned }, i) => {
    const failed = toShare(messages - aligned, most, 1);
    const passed = toShare(aligned, most, 0);
    return renderStack({ i, top: HEIGHT - failed - passed, failed, passed });
  });
  const words = `Messages per day, at most ${toCount(most)}`;
  return renderFigure('Messages per day', [toCount(most), toCount(Math.round(most / 2)), '0'], {
    days,
    chart: renderSvg({ kind: 'plot', columns: days.length, words }, [renderGrid(days), ...bars]),
  });
}

/** The pass rate as a line over the days; days without messages are gaps. */
export function renderPassRate(days: readonly ChartDay[]): Html {
  const path = days
    .map(({ messages, aligned }, i) => ({ messages, aligned, x: i * STEP + BAR / 2 }))
    .map(({ messages, aligned, x }, i, all) => {
      if (messages === 0) return '';
      const move = i === 0 || all[i - 1]?.messages === 0 ? 'M' : 'L';
      // A day between two gaps is a dot: a line of length 0.
      return `${move}${x} ${toY(aligned / messages)}${move === 'M' ? 'h0' : ''}`;
    })
    .join('');
  const words = `Pass rate by day; all ${days.length} days: ${toPassRate(sum(days))}`;
  const line = html`<path class="line" d="${path}"/>`;
  return renderFigure('Pass rate', ['100%', '50%', '0%'], {
    days,
    chart: renderSvg({ kind: 'plot', columns: days.length, words }, [renderGrid(days), line]),
  });
}

/** The charts' numbers as a table. */
export function renderNumbers(days: readonly ChartDay[]): Html {
  const rows = days
    .filter(({ messages }) => messages > 0)
    .toReversed()
    .map(
      (day) => html`<tr>
        <th scope="row">${toDate(day.day)}</th>
        <td>${toCount(day.messages)}</td><td>${toCount(day.messages - day.aligned)}</td>
        <td>${toPassRate(day)}</td>
      </tr>`,
    );
  return html`<details>
    <summary>The same in numbers</summary>
    <table class="numbers">
      <thead><tr><th scope="col">Day</th><th scope="col">Messages</th><th scope="col">Failed</th><th scope="col">Pass rate</th></tr></thead>
      <tbody>${rows}</tbody>
    </table>
  </details>`;
}

interface Frame {
  readonly days: readonly ChartDay[];
  readonly chart: Html;
}

/** Labels are HTML around the drawing, so that they keep their size when the drawing is stretched. */
function renderFigure(caption: string, scale: readonly string[], { days, chart }: Frame): Html {
  const ends = [days[0], days.at(-1)].map((end) => (end === undefined ? '' : toDate(end.day)));
  return html`<figure class="chart">
    <figcaption>${caption}</figcaption>
    <div class="scale" aria-hidden="true">${scale.map((text) => html`<span>${text}</span>`)}</div>
    ${chart}
    <div class="ends" aria-hidden="true">${ends.map((text) => html`<span>${text}</span>`)}</div>
  </figure>`;
}

function renderSvg(
  { kind, columns, words }: { kind: string; columns: number; words: string },
  shapes: readonly Html[],
): Html {
  const width = columns * STEP - (STEP - BAR);
  return html`<svg class="${kind}" viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${words}">${shapes}</svg>`;
}

function renderGrid(days: readonly ChartDay[]): Html {
  const end = days.length * STEP - (STEP - BAR);
  return html`<path class="grid" d="M0 0H${end}M0 50H${end}M0 100H${end}"/>`;
}

interface Stack {
  readonly i: number;
  readonly top: number;
  readonly failed: number;
  readonly passed: number;
}

function renderStack({ i, top, failed, passed }: Stack): Html {
  return html`${failed > 0 ? renderBar('failed', { i, y: top, height: failed }) : ''}${
    passed > 0 ? renderBar('passed', { i, y: top + failed, height: passed }) : ''
  }`;
}

function renderBar(kind: string, { i, y, height }: { i: number; y: number; height: number }): Html {
  return html`<rect class="${kind}" x="${i * STEP}" y="${toTenth(y)}" width="${BAR}" height="${toTenth(height)}"/>`;
}

/** A part of the chart's height: at least `least`, or 0 for a part of 0. */
function toShare(part: number, whole: number, least: number): number {
  return part === 0 ? 0 : Math.max(least, (part / whole) * HEIGHT);
}

function toY(rate: number): number {
  return toTenth(HEIGHT - rate * HEIGHT);
}

function toTenth(value: number): number {
  return Math.round(value * 10) / 10;
}
