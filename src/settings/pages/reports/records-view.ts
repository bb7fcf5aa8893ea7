import { html } from 'hono/html';
import { toDay } from '../../../domain/instant.ts';
import type { DkimAuthResult, SpfAuthResult } from '../../../domain/reports/aggregate-report.ts';
import { passesDmarc } from '../../../domain/reports/alignment.ts';
import type { KeptRecord } from '../../../domain/reports/record-text.ts';
import type { ReportContent } from '../../../domain/reports/report-content.ts';
import { formatCount, pluralize } from '../../../domain/text.ts';
import type { ReportOfAccount } from '../../../store/reports/report-of-account.ts';
import { renderTable } from '../../frame/elements.ts';
import { describeDisposition, type Html, renderText } from '../../frame/text.ts';
import { toSourcePath } from '../sources/source-labels.ts';

/** How much a page shows, in records and in characters of their texts. Only hostile records have so many. */
const MAX_RECORDS = 100;
const MAX_CHARS = 100_000;
/** Texts are cut already: domain/reports/record-text.ts. */
const MAX_TEXT = 300;

/** A page of the records that are kept, those with the most failed messages first. */
export function renderRecords(report: ReportOfAccount, content: ReportContent, from: number): Html {
  const { record_count: count } = report;
  const kept = content.records.toSorted(
    (a, b) => countFailed(b) - countFailed(a) || b.count - a.count,
  );
  const records = toPage(kept.slice(from, from + MAX_RECORDS));
  return html`<section class="card" aria-labelledby="records">
    <h2 id="records">Records</h2>
    <p class="muted">${pluralize(count, 'record')}, those with the most failed messages first.
      ${renderOthers(content)}</p>
    ${
      records.length === 0
        ? html`<p class="empty">${count === 0 ? 'The report has no records.' : 'There are no more records.'}</p>`
        : renderTable(
            'records cards',
            ['Source', ['Messages', 'number'], 'DMARC', 'DKIM', 'SPF'],
            records.map((record) => renderRecord(report, record)),
          )
    }
    ${renderParts(report, { from, shown: records.length, listed: kept.length })}
  </section>`;
}

/** The first records, at least one, whose texts are no more than a page shows. */
function toPage(records: readonly KeptRecord[]): readonly KeptRecord[] {
  let room = MAX_CHARS;
  return records.filter((record, i) => {
    room -= JSON.stringify(record).length;
    return room > 0 || i === 0;
  });
}

function countFailed({ count, policyEvaluated }: KeptRecord): number {
  return passesDmarc(policyEvaluated) ? 0 : count;
}

/** What the records that are not kept one by one add up to. */
function renderOthers({ records, others }: ReportContent): string {
  const { recordCount, totalMessages: messages, alignedMessages } = others;
  if (recordCount === 0) return '';
  const failed = formatCount(messages - alignedMessages);
  return `The ${formatCount(records.length)} with the most messages are listed. All others: ${pluralize(recordCount, 'record')} with ${pluralize(messages, 'message')}, of which ${failed} failed.`;
}

function renderRecord(report: ReportOfAccount, record: KeptRecord): Html {
  const { sourceIp, count, policyEvaluated, identifiers, authResults, omitted } = record;
  return html`<tr role="row">
    <th role="rowheader" scope="row">${renderSource(report, sourceIp)}${renderIdentifiers(identifiers)}</th>
    <td role="cell" data-label="Messages" class="number">${formatCount(count)}</td>
    <td role="cell" data-label="DMARC">${renderEvaluated(policyEvaluated)}${
      omitted === 0 ? '' : html`<p class="muted">${formatCount(omitted)} more in the original</p>`
    }</td>
    <td role="cell" data-label="DKIM">${renderAligned(policyEvaluated.dkim)}${renderList(authResults.dkim.map(renderDkim))}</td>
    <td role="cell" data-label="SPF">${renderAligned(policyEvaluated.spf)}${renderList(authResults.spf.map(renderSpf))}</td>
  </tr>`;
}

function renderSource({ domain_id, begin_date }: ReportOfAccount, address: string | null): Html {
  if (address === null) return html`No address`;
  const day = toDay(begin_date);
  return html`<a href="${toSourcePath(domain_id, address)}?from=${day}&to=${day}">${address}</a>`;
}

function renderIdentifiers({
  headerFrom,
  envelopeFrom,
  envelopeTo,
}: KeptRecord['identifiers']): Html {
  const named = Object.entries({
    From: headerFrom,
    'envelope from': envelopeFrom,
    'envelope to': envelopeTo,
  });
  return renderList(
    named.flatMap(([name, value]) =>
      value === null ? [] : html`${name} ${renderText(value, MAX_TEXT)}`,
    ),
  );
}

function renderEvaluated(evaluated: KeptRecord['policyEvaluated']): Html {
  const { disposition, reasons } = evaluated;
  const done = describeDisposition(disposition);
  const label = disposition === null ? `disposition ${done}` : done;
  return html`${passesDmarc(evaluated) ? html`<span class="badge good">Passed</span>` : html`<span class="badge warn">Failed</span>`}
    ${renderList([
      renderText(label),
      ...reasons.map(
        ({ type, comment }) =>
          html`${renderText(type ?? 'reason not named')}${comment === null ? '' : html`: ${renderText(comment, MAX_TEXT)}`}`,
      ),
    ])}`;
}

/** A policy-evaluated result, which has alignment folded in. */
function renderAligned(result: string | null): Html {
  if (result === 'pass') return html`<span class="badge good">Aligned</span>`;
  if (result === 'fail') return html`<span class="badge warn">Not aligned</span>`;
  return html`<span class="badge">${result === null ? 'Not stated' : renderText(result, 20)}</span>`;
}

const renderDkim = (one: DkimAuthResult) =>
  renderResult(
    one,
    one.selector === null ? '' : html`, selector ${renderText(one.selector, MAX_TEXT)}`,
  );

const renderSpf = (one: SpfAuthResult) =>
  renderResult(one, one.scope === null ? '' : html` (${renderText(one.scope, MAX_TEXT)})`);

function renderResult(of: DkimAuthResult | SpfAuthResult, detail: Html | ''): Html {
  const { result, domain, humanResult } = of;
  return html`<b>${renderText(result ?? 'no result', MAX_TEXT)}</b> for ${
    domain === null ? 'no domain' : renderText(domain, MAX_TEXT)
  }${detail}${humanResult === null ? '' : html`: ${renderText(humanResult, MAX_TEXT)}`}`;
}

function renderList(items: readonly Html[]): Html {
  if (items.length === 0) return html``;
  return html`<ul>${items.map((item) => html`<li>${item}</li>`)}</ul>`;
}

function renderParts(
  { domain_id, id }: ReportOfAccount,
  { from, shown, listed }: { from: number; shown: number; listed: number },
): Html | '' {
  if (from === 0 && shown >= listed) return '';
  const link = (to: number, text: string) =>
    html`<a href="/settings/domains/${domain_id}/reports/${id}?from=${to}#records">${text}</a>`;
  return html`<nav class="pages" aria-label="Pages of records">
    ${from === 0 ? '' : link(Math.max(0, from - MAX_RECORDS), 'Previous')}
    ${shown === 0 ? '' : html`<span>${formatCount(from + 1)} to ${formatCount(from + shown)} of ${formatCount(listed)}</span>`}
    ${from + shown >= listed ? '' : link(from + shown, 'Next')}
  </nav>`;
}
