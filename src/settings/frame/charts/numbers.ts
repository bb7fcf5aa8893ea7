import { html } from 'hono/html';
import { formatCount, formatPassRate, formatPeriod, type Html } from '../text.ts';
import type { Columns } from './columns.ts';

const HEADS = { day: 'Day', week: 'Week', month: 'Month', quarter: 'Quarter' } as const;

/** The charts' numbers as a table, the latest first. */
export function renderNumbers({ unit, columns }: Columns): Html {
  const rows = columns
    .filter(({ messages }) => messages > 0)
    .toReversed()
    .map(
      (column) => html`<tr>
        <th scope="row">${formatPeriod(column)}</th>
        <td>${formatCount(column.messages)}</td><td>${formatCount(column.messages - column.aligned)}</td>
        <td>${formatPassRate(column)}</td>
      </tr>`,
    );
  return html`<details>
    <summary>The same in numbers</summary>
    <table class="numbers">
      <thead><tr><th scope="col">${HEADS[unit]}</th><th scope="col">Messages</th><th scope="col">Failed</th><th scope="col">Pass rate</th></tr></thead>
      <tbody>${rows}</tbody>
    </table>
  </details>`;
}
