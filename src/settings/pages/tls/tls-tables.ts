import { html } from 'hono/html';
import { WINDOW_DAYS } from '../../../domain/readiness.ts';
import { formatCount, formatDay } from '../../../domain/text.ts';
import {
  addUpSessions,
  sumCauses,
  type TlsCounts,
  type TlsDay,
  type TlsReporter,
  totalOf,
} from '../../../domain/tls/tls-day.ts';
import { nameOfPolicy } from '../../../domain/tls/tls-summary.ts';
import { renderTable } from '../../frame/elements.ts';
import { type Html, renderText } from '../../frame/text.ts';

/** Rows of a table: the newest, or those of most failures. */
const SHOWN = 100;
const NUMBERS = ['Sessions', 'Not encrypted'].map((text) => [text, 'number'] as const);

/** Days by type of policy, hosts, and reporters. Types of policies are apart: the same sessions are counted in each. */
export function renderTlsTables(days: readonly TlsDay[]): Html {
  return html`<details><summary>Days, reporters and hosts of ${WINDOW_DAYS} days</summary>
    <h3>Days</h3>
    ${renderTable('cards', ['Day', 'Policy', ...NUMBERS], days.slice(0, SHOWN).map(renderDay))}
    <h3>Reporters</h3>
    ${renderTable('cards', ['Reporter', 'Policy', ...NUMBERS], listReporters(days).slice(0, SHOWN).map(renderReporter))}
    ${renderHosts(days)}
  </details>`;
}

const renderDay = (day: TlsDay) => renderRow(formatDay(day.day), describePolicy(day), day);

const describePolicy = ({ policyType, mode }: Pick<TlsDay, 'policyType' | 'mode'>) =>
  `${nameOfPolicy(policyType)}${mode === null ? '' : ` (${mode})`}`;

interface ReporterRow extends TlsReporter {
  readonly policy: string;
}

/** Each reporter once for each type of policy. */
function listReporters(days: readonly TlsDay[]): ReporterRow[] {
  const all = days.flatMap(({ policyType, reporters }) =>
    reporters.map((one) => ({ ...one, policy: nameOfPolicy(policyType) })),
  );
  const byReporter = Map.groupBy(all, ({ reporter, policy }) => JSON.stringify([reporter, policy]));
  const rows = [...byReporter.values()].map((some) => ({
    ...(some[0] as ReporterRow),
    ...addUpSessions(some),
  }));
  return rows.sort((a, b) => b.failures - a.failures || b.successes - a.successes);
}

const renderReporter = (row: ReporterRow) =>
  renderRow(renderText(row.reporter, 80), row.policy, row);

function renderRow(name: Html | string, policy: string, counts: TlsCounts): Html {
  return html`<tr role="row">
    <th role="rowheader" scope="row">${name}</th>
    <td role="cell" data-label="Policy">${policy}</td>
    <td role="cell" class="number" data-label="Sessions">${formatCount(totalOf(counts))}</td>
    <td role="cell" class="number${counts.failures > 0 ? ' wrong' : ''}" data-label="Not encrypted">${formatCount(counts.failures)}</td>
  </tr>`;
}

const HOST_HEADS = ['Host', 'Why', ['Failures', 'number']] as const;

/** The hosts at which sessions failed. A failure is in the reports of each policy that it concerns. */
function renderHosts(days: readonly TlsDay[]): Html | '' {
  const causes = days.flatMap((day) => day.causes);
  const hosts = sumCauses(causes, 'mxHost');
  if (hosts.length === 0) return '';
  const rows = hosts.slice(0, SHOWN).map(([host, sessions]) => {
    const own = sumCauses(
      causes.filter(({ mxHost }) => mxHost === host),
      'resultType',
    );
    const why = own.map(([type]) => type).join(', ');
    return html`<tr role="row">
      <th role="rowheader" scope="row">${renderText(host)}</th>
      <td role="cell" data-label="Why">${renderText(why)}</td>
      <td role="cell" class="number wrong" data-label="Failures">${formatCount(sessions)}</td>
    </tr>`;
  });
  return html`<h3>Hosts where sessions failed</h3>${renderTable('cards', [...HOST_HEADS], rows)}`;
}
