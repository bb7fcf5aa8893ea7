import { html } from 'hono/html';
import { addUp } from '../../../domain/alerts/rate.ts';
import {
  describeFailed,
  formatCount,
  formatPeriod,
  formatRateInColumn,
  type Html,
} from '../text.ts';
import type { Columns } from './columns.ts';
import { renderPlot, toCountAxis } from './plot.ts';

/** A bar leaves a gap of 0.3 columns. */
const [LEFT, WIDTH] = [0.15, 0.7];
/** The least height of failures, in hundredths: one in a thousand is visible. */
const MIN_FAILED = 1;

/** A chart of messages, and the numbers of all charts of the page. */
export function renderVolume(columns: Columns): Html {
  return html`${renderChart(columns)}
    <p class="legend"><span class="passed">Passed</span><span class="failed">Failed</span></p>
    ${renderNumbers(columns)}`;
}

/** Passed messages below, failed ones above. */
function renderChart({ unit, columns }: Columns): Html {
  const axis = toCountAxis(columns.map(({ messages }) => messages));
  const bars = columns.map(({ messages, aligned }, i) => {
    const top = axis.toY(messages) * 100;
    const share = axis.toY(aligned) * 100 - top;
    const failed = aligned === messages ? 0 : Math.max(MIN_FAILED, share);
    return html`${renderBar('failed', { i, y: top, height: failed })}${renderBar('passed', { i, y: top + failed, height: 100 - top - failed })}`;
  });
  const all = describeFailed(addUp(columns));
  return renderPlot({
    ...{
      caption: `Messages by ${unit}`,
      summary: `Messages by ${unit}; in all ${all}`,
      total: all,
    },
    ...{ columns, axis },
    shapes: html`${bars}`,
    describe: (column) => `${formatPeriod(column)}: ${describeFailed(column)}`,
  });
}

interface Bar {
  readonly i: number;
  readonly y: number;
  readonly height: number;
}

function renderBar(kind: string, { i, y, height }: Bar): Html | '' {
  if (height <= 0) return '';
  return html`<rect class="${kind}" x="${i + LEFT}" y="${toHundredth(y)}" width="${WIDTH}" height="${toHundredth(height)}"/>`;
}

function toHundredth(value: number): number {
  return Math.round(value * 100) / 100;
}

const HEADS = { day: 'Day', week: 'Week', month: 'Month', quarter: 'Quarter' } as const;

/** The charts' numbers as a table, the latest first. */
function renderNumbers({ unit, columns }: Columns): Html {
  const rows = columns
    .filter(({ messages }) => messages > 0)
    .toReversed()
    .map(
      (column) => html`<tr>
        <th scope="row">${formatPeriod(column)}</th>
        <td>${formatCount(column.messages)}</td><td>${formatCount(column.messages - column.aligned)}</td>
        <td>${formatRateInColumn(column)}</td>
      </tr>`,
    );
  return html`<details>
    <summary>Show these numbers as a table</summary>
    <table class="numbers">
      <thead><tr><th scope="col">${HEADS[unit]}</th><th scope="col">Messages</th><th scope="col">Failed</th><th scope="col">Pass rate</th></tr></thead>
      <tbody>${rows}</tbody>
    </table>
  </details>`;
}
