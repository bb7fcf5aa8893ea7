import { html } from 'hono/html';
import type { Failure } from '../../../domain/failure.ts';
import { toSafeText } from '../../../domain/text.ts';
import {
  type Format,
  findWebhookRefusal,
  MAX_WEBHOOKS,
  USUAL_EVENTS,
  WEBHOOK_EVENTS,
  type WebhookEvent,
} from '../../../domain/webhooks/webhook.ts';
import type { Delivery } from '../../../store/notify/deliveries.ts';
import type { Webhook } from '../../../store/notify/webhooks.ts';
import { renderTable } from '../../frame/elements.ts';
import {
  renderCopyable,
  renderField,
  renderFolded,
  renderFormToken,
  renderOptions,
} from '../../frame/forms.ts';
import { type Html, renderTime } from '../../frame/text.ts';
import type { Visitor } from '../../visitor.ts';

export const WEBHOOKS_PATH = '/settings/integrations/webhooks';

export type CreatedWebhook = Pick<Webhook, 'url' | 'oldUntil'> & { readonly secret: string };

export interface RefusedWebhook {
  readonly failure: Failure;
  readonly field: 'url' | 'description' | 'events';
  readonly url: string;
  readonly description: string;
  readonly events: readonly WebhookEvent[];
  readonly format: Format;
}

export const EVENT_NAMES = {
  'alert.fired': 'An alert fires',
  'alert.resolved': 'An alert resolves',
  'report.received': 'Reports come in',
  'report.removed': 'A report is removed',
  'tls_report.received': 'TLS reports come in',
  'domain.listed': 'A domain is added or resumed',
  'domain.unlisted': 'A domain is paused',
  'domain.removed': 'A domain is removed',
  'webhook.test': 'A test',
} as const satisfies Readonly<Record<WebhookEvent | 'webhook.test', string>>;

const FORMAT_NAMES = [
  ['standard', 'For a program: signed JSON'],
  ['slack', 'For a chat: Slack, Mattermost, Google Chat'],
] as const satisfies readonly (readonly [Format, string])[];

/** The only answer that shows a secret. */
export function renderSecret({ secret, oldUntil }: CreatedWebhook): Html {
  const sample = `import { Webhook } from 'standardwebhooks';

// body: the text as it came, before it is parsed
const event = new Webhook('${secret}').verify(body, headers);`;
  return html`<section class="card new-key" aria-labelledby="new-secret" data-secret>
    <h2 id="new-secret">The secret of your endpoint</h2>
    <p><strong>Copy it now: it will not be shown again.</strong> ${
      oldUntil === null
        ? 'With it your program can tell that a delivery is from Plumbline.'
        : 'The one before goes on to work for 24 hours.'
    }</p>
    ${renderCopyable({ id: 'secret', label: 'Secret', text: secret, isFocused: true })}
    ${renderCopyable({ id: 'sample', label: 'Verify a delivery, in JavaScript', text: sample, rows: 4 })}
  </section>`;
}

export function renderWebhookCreation(
  visitor: Visitor,
  count: number,
  refused: RefusedWebhook | undefined,
): Html {
  const refusal = findWebhookRefusal(visitor.plan, count);
  if (refusal !== undefined)
    return html`<section class="card calm" aria-labelledby="create">
      <h2 id="create">${refusal.code === 'plan_required' ? 'Webhooks are part of the Pro plan' : `${count} of ${MAX_WEBHOOKS} endpoints`}</h2>
      <p>${refusal.message}</p>
    </section>`;
  const problemOf = (field: RefusedWebhook['field']) =>
    refused?.field === field ? refused.failure.message : undefined;
  const form = html`<form method="post" action="${WEBHOOKS_PATH}" autocomplete="off">
      ${renderFormToken(visitor)}
      ${renderField({
        id: 'url',
        label: 'Address',
        attributes: html`type="url" required maxlength="1000" value="${refused?.url ?? ''}"`,
        help: 'Where Plumbline sends to, for example https://example.com/plumbline.',
        problem: problemOf('url'),
      })}
      ${renderEvents(refused?.events ?? USUAL_EVENTS, problemOf('events'))}
      <label for="format">What receives it</label>
      <select id="format" name="format">${renderOptions(FORMAT_NAMES, refused?.format)}</select>
      ${renderField({
        id: 'description',
        label: 'Description',
        attributes: html`maxlength="100" value="${refused?.description ?? ''}"`,
        help: 'For yourself. It can be left empty.',
        problem: problemOf('description'),
      })}
      <button>Add endpoint</button>
    </form>`;
  return renderFolded('Add an endpoint', count === 0 || refused !== undefined, form);
}

function renderEvents(chosen: readonly WebhookEvent[], problem: string | undefined): Html {
  return html`<fieldset>
    <legend>When</legend>
    ${WEBHOOK_EVENTS.map(
      (event) => html`<label><input type="checkbox" name="${event}" value="on"
        ${chosen.includes(event) ? html`checked` : ''}> ${EVENT_NAMES[event]}</label>`,
    )}
    ${problem === undefined ? '' : html`<small role="alert">${problem}</small>`}
  </fieldset>`;
}

type ListedWebhook = Webhook & { readonly last: Delivery | undefined };

export function renderWebhooks(webhooks: readonly ListedWebhook[], now: Date): Html | '' {
  if (webhooks.length === 0) return '';
  const rows = webhooks.map((webhook) => renderWebhook(webhook, now));
  return html`<section class="card" aria-labelledby="list">
    <div class="beside">
      <h2 id="list">Endpoints</h2>
      <p class="muted">${webhooks.length} of ${MAX_WEBHOOKS}</p>
    </div>
    ${renderTable('cards', ['Address', 'When', 'State', 'Last delivery'], rows)}
  </section>`;
}

function renderWebhook({ id, url, description, events, enabled, last }: ListedWebhook, now: Date) {
  return html`<tr role="row">
    <th role="rowheader" scope="row"><a href="${WEBHOOKS_PATH}/${id}">${toShortUrl(url)}</a>${description && html`<br><small>${description}</small>`}</th>
    <td role="cell" class="events" data-label="When">${events.map((event) => EVENT_NAMES[event]).join(', ')}</td>
    <td role="cell" data-label="State"><span class="badge ${enabled ? '' : 'warn'}">${enabled ? 'On' : 'Off'}</span></td>
    <td role="cell" data-label="Last delivery">${last === undefined ? 'none yet' : html`${describeState(last, enabled)}, ${renderTime(last.tried_at ?? last.at, now)}`}</td>
  </tr>`;
}

/** The address of a chat is a secret of its own, and long. */
export function toShortUrl(url: string): string {
  return toSafeText(url, 60);
}

export function describeState({ state, tries, status }: Delivery, isOn: boolean): string {
  if (state === 'waiting' && tries === 0) return isOn ? 'Waiting' : 'Waits until it is on';
  const answered = status === null ? 'no answer' : `answered ${status}`;
  const waiting = isOn ? 'Failed, to be tried again' : 'Failed, waits until it is on';
  const verb = { delivered: 'Delivered', failed: 'Failed', waiting };
  return `${verb[state]}: ${answered}`;
}
