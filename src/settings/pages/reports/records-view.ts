import { html } from 'hono/html';
import { toDay } from '../../../domain/instant.ts';
import type {
  DkimAuthResult,
  Identifiers,
  PolicyEvaluated,
  SpfAuthResult,
} from '../../../domain/reports/aggregate-report.ts';
import { passesDmarc } from '../../../domain/reports/alignment.ts';
import type { KeptRecord } from '../../../domain/reports/record-text.ts';
import type { ReportContent } from '../../../domain/reports/report-content.ts';
import type { ReportOfAccount } from '../../../store/reports/report-of-account.ts';
import { renderTable } from '../../frame/elements.ts';
import {
  describeDisposition,
  formatCount,
  type Html,
  pluralize,
  renderText,
} from '../../frame/text.ts';
import { toSourcePath } from '../sources/source-labels.ts';

/** How much a page shows, in records and in characters of their texts. Only hostile records have so many. */
const MAX_RECORDS = 100;
const MAX_CHARS = 100_000;
/** Texts are cut already: domain/reports/record-text.ts. */
const MAX_TEXT = 300;

/** A page of the records that are kept, those with the most failed messages first. */
export function renderRecords(report: ReportOfAccount, content: ReportContent, from: number): Html {
  const { record_count: count } = report;
  const kept = content.records.toSorted(byFailed);
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

function byFailed(a: KeptRecord, b: KeptRecord): number {
  return countFailed(b) - countFailed(a) || b.count - a.count;
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
    <td role="cell" data-label="DMARC">${renderOutcome(policyEvaluated)}${
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

function renderIdentifiers({ headerFrom, envelopeFrom, envelopeTo }: Identifiers): Html {
  const named = [
    ['From', headerFrom],
    ['envelope from', envelopeFrom],
    ['envelope to', envelopeTo],
  ] as const;
  return renderList(
    named
      .filter(([, value]) => value !== null)
      .map(([name, value]) => html`${name} ${renderText(value ?? '', MAX_TEXT)}`),
  );
}

function renderOutcome(evaluated: PolicyEvaluated): Html {
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

function renderDkim({ domain, selector, result, humanResult }: DkimAuthResult): Html {
  return html`${renderResult(result, domain)}${
    selector === null ? '' : html`, selector ${renderText(selector, MAX_TEXT)}`
  }${renderHuman(humanResult)}`;
}

function renderSpf({ domain, scope, result, humanResult }: SpfAuthResult): Html {
  return html`${renderResult(result, domain)}${
    scope === null ? '' : html` (${renderText(scope, MAX_TEXT)})`
  }${renderHuman(humanResult)}`;
}

function renderResult(result: string | null, domain: string | null): Html {
  return html`<b>${renderText(result ?? 'no result', MAX_TEXT)}</b> for ${
    domain === null ? 'no domain' : renderText(domain, MAX_TEXT)
  }`;
}

function renderHuman(text: string | null): Html | '' {
  return text === null ? '' : html`: ${renderText(text, MAX_TEXT)}`;
}

function renderList(items: readonly Html[]): Html {
  return items.length === 0
    ? html``
    : html`<ul>${items.map((item) => html`<li>${item}</li>`)}</ul>`;
}

interface ShownPart {
  readonly from: number;
  readonly shown: number;
  readonly listed: number;
}

function renderParts(
  { domain_id, id }: ReportOfAccount,
  { from, shown, listed }: ShownPart,
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
