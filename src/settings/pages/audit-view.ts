import { html } from 'hono/html';
import type { AuditKind } from '../../domain/access/audit-actions.ts';
import type { Day } from '../../domain/instant.ts';
import type { AuditEntry } from '../../store/accounts/audit.ts';
import type { Html } from '../frame/page.ts';
import { toExact } from '../frame/words.ts';
import { KIND_WORDS, renderAction, toActorName } from './audit-words.ts';

const PATH = '/settings/audit';

/** What the filter's form was sent with; empty where nothing was chosen. */
export interface AuditForm {
  readonly kind: AuditKind | '';
  readonly actor: string;
  readonly from: Day | '';
  readonly until: Day | '';
}

interface AuditPage {
  readonly entries: readonly AuditEntry[];
  readonly hasOlder: boolean;
  /** The `seq` of the entry at which a search with a filter stopped, though there may be earlier ones. */
  readonly searchedTo: number | undefined;
  readonly isFirst: boolean;
  readonly form: AuditForm;
  /** The e-mail addresses of the account's people. */
  readonly actors: readonly string[];
}

export function renderAudit(page: AuditPage): Html {
  const { entries, searchedTo, form } = page;
  return html`<p class="trail">Settings / Account</p>
    <h1>Audit</h1>
    <p class="lead">What was done in this account, by whom, and when. Times are UTC.</p>
    ${renderFilter(page)}
    <section class="card" aria-label="Entries">
      ${entries.length === 0 ? html`<p class="muted">${toNothing(form, searchedTo)}</p>` : renderEntries(entries)}
    </section>
    ${renderPaging(page)}`;
}

function renderFilter({ form, actors }: AuditPage): Html {
  const { kind, actor, from, until } = form;
  const known = [
    ...new Set(['operator', 'plumbline', ...actors, ...(actor === '' ? [] : [actor])]),
  ];
  const isFiltered = toQuery(form) !== '';
  return html`<form method="get" action="${PATH}" class="card filter">
    <div><label for="kind">What</label>
      <select id="kind" name="kind">
        <option value="">Everything</option>
        ${Object.entries(KIND_WORDS).map(([value, text]) => renderOption(value, text, kind))}
      </select></div>
    <div><label for="actor">By</label>
      <select id="actor" name="actor">
        <option value="">Everybody</option>
        ${known.map((one) => renderOption(one, toActorName(one), actor))}
      </select></div>
    <div><label for="from">From</label><input id="from" name="from" type="date" value="${from}"></div>
    <div><label for="until">Until</label><input id="until" name="until" type="date" value="${until}"></div>
    <div class="go"><button class="secondary">Show</button>
      ${isFiltered ? html`<a href="${PATH}">Show everything</a>` : ''}</div>
  </form>`;
}

function renderOption(value: string, text: string, chosen: string): Html {
  return html`<option value="${value}" ${value === chosen ? html`selected` : ''}>${text}</option>`;
}

function renderEntries(entries: readonly AuditEntry[]): Html {
  return html`<table class="audit cards" role="table">
    <thead role="rowgroup"><tr role="row">
      <th role="columnheader" scope="col">When</th><th role="columnheader" scope="col">What</th>
      <th role="columnheader" scope="col">From</th>
    </tr></thead>
    <tbody role="rowgroup">${entries.map(renderEntry)}</tbody>
  </table>`;
}

function renderEntry(entry: AuditEntry): Html {
  const { at, actor, address } = entry;
  return html`<tr role="row">
    <td role="cell" class="at"><time datetime="${at}">${toExact(at)}</time></td>
    <td role="cell" class="what"><strong>${toActorName(actor)}</strong> ${renderAction(entry)}</td>
    <td role="cell" class="from">${toOrigin(actor, address)}</td>
  </tr>`;
}

function toOrigin(actor: string, address: string | null): string {
  if (address !== null) return address;
  return actor === 'plumbline' ? 'by itself' : 'by command';
}

function toNothing(form: AuditForm, searchedTo: number | undefined): string {
  if (toQuery(form) === '') return 'Nothing yet.';
  return searchedTo === undefined
    ? 'Nothing that fits.'
    : 'Nothing that fits in this part of the audit.';
}

function renderPaging({ entries, hasOlder, searchedTo, isFirst, form }: AuditPage): Html | '' {
  const oldest = hasOlder ? entries.at(-1)?.seq : searchedTo;
  if (isFirst && oldest === undefined) return '';
  const query = toQuery(form);
  const older = new URLSearchParams(query);
  older.set('before', String(oldest));
  return html`<p class="paging">
    ${isFirst ? '' : html`<a href="${PATH}${query === '' ? '' : `?${query}`}">Newest</a>`}
    ${
      oldest === undefined
        ? ''
        : html`<a href="${PATH}?${older.toString()}" rel="next">${hasOlder ? 'Older' : 'Search further back'}</a>`
    }
  </p>`;
}

function toQuery(form: AuditForm): string {
  const chosen = Object.entries(form).filter(([, value]) => value !== '');
  return new URLSearchParams(chosen).toString();
}
