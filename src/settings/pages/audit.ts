import type { RequestHandler } from 'express';
import { html } from 'hono/html';
import { type AuditEntry, listAudit } from '../../store/accounts/audit.ts';
import { readQuery } from '../form.ts';
import { type Html, sendPage } from '../frame/page.ts';
import { renderTime } from '../frame/words.ts';
import type { Given } from '../given.ts';
import { visitorOf } from '../visitor.ts';

const PATH = '/settings/audit';
const PER_PAGE = 50;

const ACTIONS = {
  created: 'created',
  enabled: 'turned on',
  disabled: 'turned off',
  disabled_by_plan: 'turned off, by leaving Pro,',
  deleted: 'deleted',
} as const satisfies Record<AuditEntry['action'], string>;

/** The changes of the account's keys: who, when, and from where; latest first. */
export function showAudit({ store, now }: Given): RequestHandler {
  return async (req, res) => {
    const before = readQuery(req, 'before');
    const entries = await listAudit(store.db, visitorOf(res).accountId, {
      limit: PER_PAGE,
      before: /^\d{1,15}$/.test(before) ? Number(before) : undefined,
    });
    const main = html`<p class="trail">Settings / Account</p>
      <h1>Audit</h1>
      <p class="lead">What was done to this account’s API keys.</p>
      <section class="card" aria-label="Entries">
        ${entries.length === 0 ? html`<p class="muted">Nothing yet.</p>` : renderEntries(entries, now())}
      </section>
      ${entries.length === PER_PAGE ? html`<p><a href="${PATH}?before=${entries.at(-1)?.seq}">Older</a></p>` : ''}`;
    await sendPage(res, { title: 'Audit', place: 'audit', main });
  };
}

function renderEntries(entries: readonly AuditEntry[], now: Date): Html {
  return html`<ul class="audit">${entries.map((entry) => renderEntry(entry, now))}</ul>`;
}

function renderEntry(entry: AuditEntry, now: Date): Html {
  const { actor, action, key_name, key_prefix, at, address } = entry;
  return html`<li>
    <p><strong>${actor === 'operator' ? 'The operator' : actor}</strong> ${ACTIONS[action]} <strong>“${key_name}”</strong> <code>${key_prefix}…</code></p>
    <p class="muted">${renderTime(at, now)}, ${address === null ? 'by command' : html`from ${address}`}</p>
  </li>`;
}
