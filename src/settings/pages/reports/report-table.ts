import { html } from 'hono/html';
import type { ReportRow } from '../../../store/reports/reports.ts';
import type { Html } from '../../frame/page.ts';
import { renderText, toCount, toDate, toExact, toPassRate } from '../../frame/words.ts';

/** Characters of an organisation's name in a list. */
const MAX_ORG = 80;

/** Reports of a domain as a table. Each links to its page. */
export function renderReportTable(domainId: string, reports: readonly ReportRow[]): Html {
  return html`<table class="reports" role="table">
    <thead role="rowgroup"><tr role="row">
      <th role="columnheader" scope="col">Reporter</th>
      <th role="columnheader" scope="col">Window begins</th>
      <th role="columnheader" scope="col" class="number">Messages</th>
      <th role="columnheader" scope="col" class="number">Failed</th>
      <th role="columnheader" scope="col" class="number">Pass rate</th>
    </tr></thead>
    <tbody role="rowgroup">${reports.map((report) => renderRow(domainId, report))}</tbody>
  </table>`;
}

function renderRow(domainId: string, report: ReportRow): Html {
  const { id, begin_date, total_messages: messages, aligned_messages: aligned } = report;
  return html`<tr role="row">
    <th role="rowheader" scope="row"><a href="/settings/domains/${domainId}/reports/${id}">${renderReporter(report)}</a></th>
    <td role="cell"><time datetime="${begin_date}" title="${toExact(begin_date)}">${toDate(begin_date)}</time></td>
    <td role="cell" data-unit="messages" class="number">${toCount(messages)}</td>
    <td role="cell" data-unit="failed" class="number">${toCount(messages - aligned)}</td>
    <td role="cell" data-unit="passed" class="number">${toPassRate({ messages, aligned })}</td>
  </tr>`;
}

/** The name of the organisation that sent a report. */
export function renderReporter({ reporter_org }: Pick<ReportRow, 'reporter_org'>): Html {
  return reporter_org === null ? html`Unnamed reporter` : renderText(reporter_org, MAX_ORG);
}
