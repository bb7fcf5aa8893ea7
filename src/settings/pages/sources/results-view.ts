import { html } from 'hono/html';
import type { Results, Signature } from '../../../domain/sources/evidence.ts';
import { formatCount, pluralize } from '../../../domain/text.ts';
import type { ReporterCounts } from '../../../judging/source.ts';
import { renderTable } from '../../frame/elements.ts';
import {
  describeDisposition,
  formatRateInColumn,
  type Html,
  renderDomainName,
  renderText,
} from '../../frame/text.ts';
import { renderName } from './source-labels.ts';

/** What concerns fewer messages is counted only. */
const MAX_ROWS = 20;
const MAX_REPORTED = 32;
const MAX_REPORTER = 200;

export function renderResults(results: readonly Results[], otherMessages: number): Html {
  const left = results.slice(MAX_ROWS).reduce((sum, { messages }) => sum + messages, otherMessages);
  return html`<section class="card" aria-labelledby="results">
    <h2 id="results">Results</h2>
    ${
      results.length === 0
        ? html`<p class="muted">No details are stored of these messages.</p>`
        : renderTable(
            'results cards',
            ['Header From', 'SPF', 'DKIM', 'Disposition', ['Messages', 'number'], 'DMARC'],
            results.slice(0, MAX_ROWS).map(renderResult),
          )
    }
    ${left > 0 ? html`<p class="muted">${pluralize(left, 'message')} more, of which this page has no details.</p>` : ''}
  </section>`;
}

function renderResult(result: Results): Html {
  const { headerFrom, spf, disposition, isForwarded, messages, aligned } = result;
  const [label, tone] = aligned > 0 ? ['Passed', 'good'] : ['Failed', 'warn'];
  return html`<tr role="row">
    <th role="rowheader" scope="row">${headerFrom ? renderDomainName(headerFrom) : 'Not stated'}</th>
    <td role="cell" data-label="SPF"><div>${renderReported(spf.result)} ${renderDomain(spf.domain)} ${renderAligned(spf.isAligned, [spf.result])}</div></td>
    <td role="cell" data-label="DKIM"><div>${renderSignatures(result)}</div></td>
    <td role="cell" data-label="Disposition"><div>${renderText(describeDisposition(disposition), MAX_REPORTED)}${isForwarded ? html` <small>forwarded, says the receiver</small>` : ''}</div></td>
    <td role="cell" class="number" data-label="Messages">${formatCount(messages)}</td>
    <td role="cell" data-label="DMARC"><span class="badge ${tone}">${label}</span></td>
  </tr>`;
}

function renderSignatures({ dkim, isDkimAligned }: Results): Html {
  if (dkim.length === 0 && !isDkimAligned) return html`No signature`;
  const results = dkim.map(({ result }) => result);
  return html`${dkim.map(renderSignature)} ${renderAligned(isDkimAligned, results)}`;
}

function renderSignature({ domain, selector, result }: Signature): Html {
  return html`<p>${renderReported(result)} ${renderDomain(domain)}${selector ? html` <small>selector ${renderName(selector)}</small>` : ''}</p>`;
}

function renderDomain(domain: string | null): Html | '' {
  return domain ? html`<span class="name">${renderDomainName(domain)}</span>` : '';
}

function renderReported(text: string | null): Html {
  return text ? html`<strong>${renderText(text, MAX_REPORTED)}</strong>` : html`Not stated`;
}

/** What does not pass is not said to be of another domain. */
function renderAligned(isAligned: boolean, results: readonly (string | null)[]): Html {
  const others = results.includes('pass') ? 'not aligned' : 'does not pass';
  return html`<small>${isAligned ? 'aligned' : others}</small>`;
}

export function renderReporters(reporters: readonly ReporterCounts[]): Html | '' {
  if (reporters.length === 0) return '';
  const left = reporters.length - MAX_ROWS;
  return html`<section class="card" aria-labelledby="reporters">
    <h2 id="reporters">Reporters</h2>
    <table class="numbers">
      <thead><tr>
        <th scope="col">Reporter</th>
        <th scope="col" class="number">Messages</th>
        <th scope="col" class="number">Failed</th>
        <th scope="col" class="number">Pass rate</th>
      </tr></thead>
      <tbody>${reporters.slice(0, MAX_ROWS).map(renderReporter)}</tbody>
    </table>
    ${left > 0 ? html`<p class="muted">${pluralize(left, 'more reporter')} saw fewer messages.</p>` : ''}
  </section>`;
}

function renderReporter({ name, messages, aligned }: ReporterCounts): Html {
  return html`<tr>
    <th scope="row">${name ? renderText(name, MAX_REPORTER) : 'Unnamed reporter'}</th>
    <td class="number">${formatCount(messages)}</td>
    <td class="number">${formatCount(messages - aligned)}</td>
    <td class="number">${formatRateInColumn({ messages, aligned })}</td>
  </tr>`;
}
