import { html } from 'hono/html';
import { addUp, type Counts, failedOf } from '../../domain/pass-rate.ts';
import { WINDOW_DAYS } from '../../domain/readiness.ts';
import type { MailResults, SignatureResults } from '../../domain/sources/mail-results.ts';
import { formatCount, pluralize } from '../../domain/text.ts';
import { renderTable } from '../frame/elements.ts';
import { formatRateInColumn, type Html, renderText } from '../frame/text.ts';
import { renderName } from './sources/source-labels.ts';

/** Which signatures did not verify, and who reported failures, of which there are `failed` in all. */
export function renderFailures({ signatures, reporters }: MailResults, failed: number): Html {
  const bySignature = {
    id: 'signatures',
    title: 'Signatures that do not verify',
    head: 'DKIM signature',
    rows: signatures.map((one) => ({ ...one, name: renderSignature(one) })),
  };
  const byReporter = {
    id: 'reporters',
    title: 'Who reported failures',
    head: 'Reporter',
    rows: reporters.map(({ name, ...counts }) => ({
      ...counts,
      name: name === null ? 'Unnamed reporter' : renderText(name, MAX_REPORTER),
    })),
    missing: failed - failedOf(addUp(reporters)),
  };
  return html`${renderRows(bySignature)}${renderRows(byReporter)}`;
}

const MAX_REPORTER = 80;

function renderSignature({ domain, selector }: SignatureResults): Html {
  return html`${renderName(domain ?? 'not stated')}${selector ? html` selector ${renderName(selector)}` : ''}`;
}

/** The rows of a table: those with most failures. */
const SHOWN = 8;

const NUMBERS = ['Messages', 'Failed', 'Passed'].map((text) => [text, 'number'] as const);

interface FailureRow extends Counts {
  readonly name: Html | string;
}

interface Failures {
  readonly id: string;
  readonly title: string;
  readonly head: string;
  readonly rows: readonly FailureRow[];
  /** How many failed messages belong to none of the rows. */
  readonly missing?: number;
}

export function renderMissing(failed: number): Html | '' {
  if (failed <= 0) return '';
  return html`<p class="muted">${pluralize(failed, 'failed message')} ${failed === 1 ? 'is' : 'are'} missing here: of addresses that are not
    listed (1,000 of a day are kept: those with most messages, and with most failures), without an address, or of days whose sources are not kept any more.</p>`;
}

function renderRows({ id, title, head, rows, missing = 0 }: Failures): Html | '' {
  const failing = rows.filter(({ messages, aligned }) => messages > aligned);
  if (failing.length === 0) return '';
  return html`<section class="card" aria-labelledby="${id}">
    <h2 id="${id}">${title} <span class="muted">${WINDOW_DAYS} days${failing.length > SHOWN ? `, the ${SHOWN} with most failures of ${failing.length}` : ''}</span></h2>
    ${renderTable('cards', [head, ...NUMBERS], failing.slice(0, SHOWN).map(renderFailureRow))}
    ${renderMissing(missing)}
  </section>`;
}

function renderFailureRow({ name, messages, aligned }: FailureRow): Html {
  return html`<tr role="row">
    <th role="rowheader" scope="row">${name}</th>
    <td role="cell" class="number" data-label="Messages">${formatCount(messages)}</td>
    <td role="cell" class="number wrong" data-label="Failed">${formatCount(messages - aligned)}</td>
    <td role="cell" class="number" data-label="Passed">${formatRateInColumn({ messages, aligned })}</td>
  </tr>`;
}
