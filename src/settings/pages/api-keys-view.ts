import { html } from 'hono/html';
import { findKeyRefusal, MAX_KEYS_PER_ACCOUNT } from '../../domain/access/api-key.ts';
import { EXPIRY_DAYS, isExpired } from '../../domain/access/key-expiry.ts';
import type { Failure } from '../../domain/failure.ts';
import { DAY_MS, later, toDay, toInstant } from '../../domain/instant.ts';
import type { ApiKey } from '../../store/accounts/api-keys.ts';
import { renderTable } from '../frame/elements.ts';
import {
  renderCopyable,
  renderField,
  renderFolded,
  renderFormToken,
  renderOptions,
} from '../frame/forms.ts';
import { type Html, renderTime } from '../frame/text.ts';
import type { Visitor } from '../visitor.ts';

export const KEYS_PATH = '/settings/integrations/api-keys';

export interface CreatedKey {
  readonly name: string;
  /** The whole key, shown this once. */
  readonly key: string;
}

export interface RefusedKey {
  readonly failure: Failure;
  readonly field: 'name' | 'expires';
  readonly name: string;
  readonly expires: string;
  readonly lastDay: string;
}

/** htmx replaces `#keys` and `#notice`. It drops a second click: a disabled button would lose the keyboard focus. */
const SWAP = html`hx-target="#keys" hx-select="#keys" hx-swap="outerHTML" hx-select-oob="#notice:innerHTML" hx-sync="this:drop"`;

/** The only page that shows a whole key. */
export function renderCreated({ name, key }: CreatedKey, baseUrl: string): Html {
  const curl = `curl -H "Authorization: Bearer ${key}" "${baseUrl}/v1/external/domains"`;
  return html`<section class="card new-key" aria-labelledby="new-key" data-secret>
    <h2 id="new-key">Your new key “${name}”</h2>
    <p><strong>Copy it now: it will not be shown again.</strong> Leaving this page loses it for good.</p>
    ${renderCopyable({ id: 'key', label: 'API key', text: key, isFocused: true })}
    ${renderCopyable({ id: 'curl', label: 'Try it in a terminal', text: curl })}
  </section>`;
}

export function renderKeyCreation(
  visitor: Visitor,
  keyCount: number,
  { refused, now }: { readonly refused: RefusedKey | undefined; readonly now: Date },
): Html {
  const refusal = findKeyRefusal(visitor.plan, keyCount);
  if (refusal?.code === 'plan_required') return renderPlan();
  if (refusal !== undefined) {
    return html`<section class="card calm" aria-labelledby="create">
      <h2 id="create">${keyCount} of ${MAX_KEYS_PER_ACCOUNT} keys</h2>
      <p>${refusal.message}</p>
    </section>`;
  }
  const form = html`<form method="post" action="${KEYS_PATH}" hx-post="${KEYS_PATH}" ${SWAP} autocomplete="off">
      ${renderFormToken(visitor)}
      ${renderField({
        id: 'name',
        label: 'Name',
        attributes: html`required maxlength="100" value="${refused?.name ?? ''}"`,
        help: 'Where it will be used, for example “Security dashboard”.',
        problem: refused?.field === 'name' ? refused.failure.message : undefined,
      })}
      ${renderExpiry(refused, now)}
      <button>Create key</button>
    </form>`;
  return renderFolded('Create a key', keyCount === 0 || refused !== undefined, form);
}

const LENGTHS: Readonly<Record<(typeof EXPIRY_DAYS)[number], string>> = {
  30: 'In 30 days',
  90: 'In 90 days',
  365: 'In a year',
};

function renderExpiry(refused: RefusedKey | undefined, now: Date): Html {
  const options = [
    ['none', 'Never'],
    ...EXPIRY_DAYS.map((days) => [String(days), LENGTHS[days]] as const),
    ['day', 'After a day that I choose'],
  ] as const;
  const wrong = refused?.field === 'expires' ? refused.failure : undefined;
  return html`<div class="filter">
    <div><label for="expires">Expires</label>
      <select id="expires" name="expires">${renderOptions(options, refused?.expires)}</select></div>
    <div><label for="last-day">Last day, if you choose one</label>
      <input id="last-day" name="last_day" type="date" min="${toDay(toInstant(now))}" value="${refused?.lastDay ?? ''}"
        ${wrong ? html`aria-invalid="true" aria-describedby="expiry-help" autofocus` : ''}></div>
  </div>
  ${wrong ? html`<small id="expiry-help" role="alert">${wrong.message}</small>` : ''}`;
}

function renderPlan(): Html {
  return html`<section class="card calm" aria-labelledby="create">
    <h2 id="create">The API is part of the Pro plan</h2>
    <p>This account is not on Pro, so its keys are off and no key can be created or turned on. With Pro:</p>
    <ul>
      <li>read-only access to domains, aggregate reports and alerts,</li>
      <li>up to ${MAX_KEYS_PER_ACCOUNT} keys, each switched off and on by itself,</li>
      <li>cheap polling with entity tags.</li>
    </ul>
    <p>The operator of this Plumbline can change the plan. Your keys stay here; turn them on again afterwards.</p>
  </section>`;
}

const DELETE = html`<span class="unseen">Delete</span>`;
const KEY_HEADS = ['Name', 'Key', 'Created', 'Last used', 'Expires', 'On', DELETE];

export function renderKeys(keys: readonly ApiKey[], visitor: Visitor, now: Date): Html | '' {
  if (keys.length === 0) return '';
  const rows = keys.map((key) => renderKey(key, visitor, now));
  return html`<section class="card" aria-labelledby="list">
    <div class="beside">
      <h2 id="list">Keys</h2>
      <p class="muted">${keys.length} of ${MAX_KEYS_PER_ACCOUNT}</p>
    </div>
    ${renderTable('keys cards', KEY_HEADS, rows)}
  </section>`;
}

function renderKey(key: ApiKey, visitor: Visitor, now: Date): Html {
  const { id, name, prefix, enabled, createdAt, lastUsedAt } = key;
  return html`<tr role="row" class="${enabled ? 'on' : 'off'}">
    <th role="rowheader" scope="row">${name}</th>
    <td role="cell" data-label="Key"><code>${prefix}…</code></td>
    <td role="cell" data-label="Created">${renderTime(createdAt, now)}</td>
    <td role="cell" data-label="Last used">${lastUsedAt === null ? 'never' : renderTime(lastUsedAt, now)}</td>
    <td role="cell" data-label="Expires">${renderExpires(key, now)}</td>
    <td role="cell" class="switch">${renderSwitch(key, visitor)}</td>
    <td role="cell" class="delete"><a href="${KEYS_PATH}/${id}/delete" aria-label="Delete “${name}”"
      hx-get="${KEYS_PATH}/${id}/delete" hx-target="#dialog" hx-select="#confirm" hx-swap="innerHTML">Delete</a></td>
  </tr>`;
}

/** How long before its expiry a key is marked. */
const SOON_MS = 14 * DAY_MS;

function renderExpires({ expiresAt }: ApiKey, now: Date): Html | string {
  if (expiresAt === null) return 'never';
  const time = renderTime(expiresAt, now);
  if (isExpired(expiresAt, toInstant(now)))
    return html`<span class="badge warn">expired ${time}</span>`;
  const isSoon = expiresAt <= later(toInstant(now), SOON_MS);
  return isSoon ? html`<span class="badge warn">expires ${time}</span>` : time;
}

/** Works without JavaScript; its state is in `aria-checked`. */
function renderSwitch({ id, name, enabled }: ApiKey, visitor: Visitor): Html {
  const action = `${KEYS_PATH}/${id}/${enabled ? 'disable' : 'enable'}`;
  const isBlocked = visitor.plan !== 'pro' && !enabled;
  return html`<form method="post" action="${action}" hx-post="${action}" ${SWAP}>
    ${renderFormToken(visitor)}
    <button id="switch-${id}" role="switch" aria-checked="${String(enabled)}" aria-label="Accept requests with “${name}”"
      ${isBlocked ? html`disabled title="Keys can be turned on when the account is on Pro."` : ''}><span class="knob"></span></button>
  </form>`;
}

/** Shown on a page of its own and in the dialog. */
export function renderDeletion({ id, name, prefix }: ApiKey, visitor: Visitor): Html {
  return html`<section class="card" id="confirm">
    <h1 id="dialog-title">Delete “${name}”?</h1>
    <p>Requests with <code>${prefix}…</code> are rejected at once. A deleted key cannot be restored.</p>
    <form method="post" action="${KEYS_PATH}/${id}/delete" class="choices">
      ${renderFormToken(visitor)}
      <a href="${KEYS_PATH}" role="button" class="secondary" data-close>Keep it</a>
      <button class="danger">Delete key</button>
    </form>
  </section>`;
}
