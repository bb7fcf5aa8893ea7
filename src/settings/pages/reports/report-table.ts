import { html } from 'hono/html';
import type { Doubt } from '../../../domain/reports/authentication.ts';
import { findReporterName } from '../../../domain/reports/reporters.ts';
import { formatCount, formatDay, formatTime } from '../../../domain/text.ts';
import type { SortColumn } from '../../../store/reports/report-list-queries.ts';
import type { ReportItem } from '../../../store/reports/reports.ts';
import { renderTable, toSortHead } from '../../frame/elements.ts';
import { formatRateInColumn, type Html, renderText } from '../../frame/text.ts';

/** Characters of an organisation's name in a list. */
const MAX_ORG = 80;

interface ShownReport extends ReportItem {
  readonly doubt?: Doubt | null;
}

const HEADS = [
  { text: 'Reporter', column: 'reporter' },
  { text: 'Window begins', column: 'begin' },
  { text: 'Messages', column: 'messages', className: 'number' },
  { text: 'Failed', column: 'failed', className: 'number' },
  { text: 'Pass rate', column: 'rate', className: 'number' },
] as const satisfies readonly Parameters<typeof toSortHead<SortColumn>>[0][];

/** The heads of a sorted table are links. */
export function renderReportTable(
  domainId: string,
  reports: readonly ShownReport[],
  sorted?: Parameters<typeof toSortHead<SortColumn>>[1],
): Html {
  const heads = HEADS.map((head: (typeof HEADS)[number] & { readonly className?: string }) =>
    sorted ? toSortHead(head, sorted) : ([head.text, head.className ?? ''] as const),
  );
  const rows = reports.map((report) => renderRow(domainId, report));
  return renderTable('reports', heads, rows);
}

function renderRow(domainId: string, report: ShownReport): Html {
  const { id, begin_date, total_messages: messages, aligned_messages: aligned } = report;
  return html`<tr role="row">
    <th role="rowheader" scope="row"><a href="/settings/domains/${domainId}/reports/${id}">${renderReporter(report)}</a>${report.doubt ? DOUBTS[report.doubt] : ''}</th>
    <td role="cell"><time datetime="${begin_date}" title="${formatTime(begin_date)}">${formatDay(begin_date)}</time></td>
    <td role="cell" data-unit="messages" class="number">${formatCount(messages)}</td>
    <td role="cell" data-unit="failed" class="number">${formatCount(messages - aligned)}</td>
    <td role="cell" data-unit="passed" class="number">${formatRateInColumn({ messages, aligned })}</td>
  </tr>`;
}

const DOUBTS: Readonly<Record<Doubt, Html>> = {
  unproven: html` <span class="badge warn">Not authenticated</span>`,
  new: html` <span class="badge warn">New sender</span>`,
  disputed: html` <span class="badge">Disputed</span>`,
};

export function renderReporter(report: ReportItem): Html {
  return renderText(nameReporter(report), MAX_ORG);
}

export function nameReporter(report: ReportItem): string {
  return findReporterName(report) ?? 'Unnamed reporter';
}
