import { html } from 'hono/html';
import { addUp } from '../../../domain/pass-rate.ts';
import { formatCount } from '../../../domain/text.ts';
import { describeFailed, formatPeriod, formatRateInColumn, type Html } from '../text.ts';
import type { ChartColumns } from './columns.ts';
import { describePolicyStep, renderPlot, toCountAxis } from './plot.ts';

/** A bar is 0.7 columns wide, and in their middle. */
const LEFT = 0.15;
/** The least height of failures, in hundredths: one in a thousand is visible. */
const MIN_FAILED = 1;

/** A chart of messages, and the steps and numbers of all charts of the page. */
export function renderVolume(columns: ChartColumns): Html {
  return html`${renderChart(columns)}
    <p class="legend"><span class="passed">Passed</span><span class="failed">Failed</span></p>
    ${renderSteps(columns)}
    ${renderNumbers(columns)}`;
}

/** Passed messages below, failed ones above. */
function renderChart({ unit, columns, steps = [] }: ChartColumns): Html {
  const axis = toCountAxis(columns.map(({ messages }) => messages));
  const bars = columns.map(({ messages, aligned }, i) => {
    const top = axis.toY(messages) * 100;
    const share = axis.toY(aligned) * 100 - top;
    const failed = aligned === messages ? 0 : Math.max(MIN_FAILED, share);
    return html`${renderBar('failed', i + LEFT, [top, failed])}${renderBar('passed', i + LEFT, [top + failed, 100 - top - failed])}`;
  });
  return renderPlot({
    title: `Messages by ${unit}`,
    total: describeFailed(addUp(columns)),
    columns,
    steps,
    axis,
    shapes: html`${bars}`,
    describe: (column) => `${formatPeriod(column)}: ${describeFailed(column)}`,
  });
}

/** `x` is in columns from the left, the extent in hundredths from the top. */
export function renderBar(kind: string, x: number, extent: readonly [y: number, height: number]) {
  const [y = 0, height = 0] = extent.map((value) => Math.round(value * 100) / 100);
  if (height <= 0) return '';
  return html`<rect class="${kind}" x="${x}" y="${y}" width="0.7" height="${height}"/>`;
}

function renderSteps({ steps = [] }: ChartColumns): Html | '' {
  if (steps.length === 0) return '';
  return html`<ul class="steps" aria-label="Policy in the charts">${steps.map((step) => html`<li>${describePolicyStep(step)}</li>`)}</ul>`;
}

const HEADS = { day: 'Day', week: 'Week', month: 'Month', quarter: 'Quarter' } as const;

/** The charts' numbers as a table, the latest first. */
function renderNumbers({ unit, columns }: ChartColumns): Html {
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
