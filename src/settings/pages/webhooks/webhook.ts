import type { Request, Response } from 'express';
import { html } from 'hono/html';
import { toInstant } from '../../../domain/instant.ts';
import { formatCount } from '../../../domain/text.ts';
import { OFF_REASONS } from '../../../domain/webhooks/webhook.ts';
import {
  type Delivery,
  insertTest,
  listDeliveries,
  resend,
} from '../../../store/notify/deliveries.ts';
import {
  deleteWebhook,
  findWebhook,
  rotateWebhook,
  updateWebhook,
  type Webhook,
} from '../../../store/notify/webhooks.ts';
import type { PageHandler, SettingsDeps } from '../../deps.ts';
import { renderTable } from '../../frame/elements.ts';
import { renderAction, renderFormToken } from '../../frame/forms.ts';
import { sendPage } from '../../frame/page.ts';
import { type Html, labelOf, renderText, renderTime } from '../../frame/text.ts';
import { idOf, readWholeNumber } from '../../request.ts';
import { actorOf, onForm, type Visitor, visitorOf } from '../../visitor.ts';
import { openForWebhook } from './webhooks.ts';
import {
  type CreatedWebhook,
  describeState,
  EVENT_NAMES,
  renderSecret,
  toShortUrl,
  WEBHOOKS_PATH,
} from './webhooks-view.ts';

export const showWebhook: PageHandler = (deps, _req, res) => sendWebhook(deps, res);

const toPage = (req: Request) => `${WEBHOOKS_PATH}/${idOf(req)}`;

export const testWebhook = onForm(toPage, async ({ db, req, by }) => {
  await insertTest(db, idOf(req), by);
  return 'A test is on its way. Load this page again to see the answer.';
});

export const resendEvent = onForm(toPage, async ({ db, req, by }) => {
  await resend(db, idOf(req), idOf(req, 'event'), by);
  return 'The event is sent again. Load this page again to see the answer.';
});

export const enableWebhook = onForm(toPage, async ({ db, req, by }) => {
  await updateWebhook(db, idOf(req), true, by);
  return 'The endpoint is on.';
});

export const disableWebhook = onForm(toPage, async ({ db, req, by }) => {
  await updateWebhook(db, idOf(req), false, by);
  return 'The endpoint is off: nothing is sent to it.';
});

export const removeWebhook = onForm(WEBHOOKS_PATH, async ({ db, req, by }) => {
  await deleteWebhook(db, idOf(req), by);
  return 'The endpoint is deleted.';
});

/** Shows the new secret in the answer itself. */
export const renewSecret: PageHandler = async (deps, req, res) => {
  const by = actorOf(res, deps);
  const sealing = await openForWebhook(deps);
  const rotated = await rotateWebhook(deps.store.db, idOf(req), { sealing, by });
  await sendWebhook(deps, res, rotated);
};

export const askToDeleteWebhook: PageHandler = async ({ store }, req, res) => {
  const visitor = visitorOf(res);
  const main = renderDeletion(await findWebhook(store.db, idOf(req), visitor), visitor);
  await sendPage(res, { title: 'Delete an endpoint', current: 'webhooks', main });
};

const PER_PAGE = 25;

async function sendWebhook(
  { store: { db }, now }: SettingsDeps,
  res: Response,
  created?: CreatedWebhook,
): Promise<void> {
  const { req } = res;
  const visitor = visitorOf(res);
  const webhook = await findWebhook(db, idOf(req), visitor);
  const before = readWholeNumber(req, 'before');
  const read = await listDeliveries(db, webhook.id, { limit: PER_PAGE + 1, before });
  const deliveries = read.slice(0, PER_PAGE);
  const older = read.length > PER_PAGE ? deliveries.at(-1)?.event_seq : undefined;
  const view = { webhook, deliveries, older, created, now: now() };
  const main = renderWebhookPage(visitor, view);
  await sendPage(res, { title: 'Webhook', current: 'webhooks', main });
}

interface WebhookView {
  readonly webhook: Webhook;
  readonly deliveries: readonly Delivery[];
  /** The last event of this page, when there are older ones. */
  readonly older: number | undefined;
  readonly created: CreatedWebhook | undefined;
  readonly now: Date;
}

function renderWebhookPage(visitor: Visitor, view: WebhookView): Html {
  const { webhook, created, now } = view;
  const { id, url, description, events, enabled, offReason, oldUntil, format } = webhook;
  const path = `${WEBHOOKS_PATH}/${id}`;
  const isOldGood = oldUntil !== null && oldUntil > toInstant(now);
  return html`<p class="trail">Settings / Integrations / <a href="${WEBHOOKS_PATH}">Webhooks</a></p>
    <h1>${toShortUrl(url)}</h1>
    <p class="lead">${description}</p>
    ${created === undefined ? '' : renderSecret(created)}
    <section class="card" aria-labelledby="state">
      <h2 id="state">The endpoint is ${enabled ? 'on' : 'off'}</h2>
      ${enabled ? '' : html`<p role="status">${offReason === null ? 'Nothing is sent to it.' : OFF_REASONS[offReason]}</p>`}
      <p>It is told when: ${events.map((event) => EVENT_NAMES[event].toLowerCase()).join(', ')}${format === 'slack' ? ', as a sentence for a chat' : ''}.</p>
      ${isOldGood ? html`<p>Its secret before signs too. That ends ${renderTime(oldUntil, now)}.</p>` : ''}
      <div class="choices">
        ${enabled ? renderAction(visitor, { path: `${path}/test`, text: 'Send a test' }) : ''}
        ${renderAction(visitor, enabled ? { path: `${path}/disable`, text: 'Turn off', look: 'secondary' } : { path: `${path}/enable`, text: 'Turn on' })}
        ${renderAction(visitor, { path: `${path}/secret`, text: 'New secret', look: 'secondary' })}
      </div>
      <p><a href="${path}/delete">Delete this endpoint</a></p>
    </section>
    ${renderDeliveries(visitor, view, path)}`;
}

function renderDeliveries(
  visitor: Visitor,
  { webhook, deliveries, older, now }: WebhookView,
  path: string,
): Html {
  const rows = deliveries.map((delivery) => renderDelivery(visitor, delivery, { webhook, now }));
  return html`<section class="card" aria-labelledby="deliveries">
    <h2 id="deliveries">Deliveries of the last 30 days</h2>
    ${rows.length === 0 ? html`<p class="muted">None yet.</p>` : renderTable('cards', ['Event', 'Result', 'Answer', html`<span class="unseen">Again</span>`], rows)}
    ${older === undefined ? '' : html`<p><a href="${path}?before=${older}">Older</a></p>`}
  </section>`;
}

/** No more of an answer is kept. */
const MAX_ANSWER = 500;

function renderDelivery(
  visitor: Visitor,
  delivery: Delivery,
  { webhook, now }: Pick<WebhookView, 'webhook' | 'now'>,
): Html {
  const { id, type, at, tries, took_ms, answer, due_at_ms } = delivery;
  const name = labelOf(EVENT_NAMES, type);
  const next = webhook.enabled && due_at_ms !== null ? new Date(due_at_ms) : undefined;
  const action = `${WEBHOOKS_PATH}/${webhook.id}/events/${id}`;
  return html`<tr role="row">
    <th role="rowheader" scope="row" class="event">${name}<br><small>${renderTime(at, now)}</small></th>
    <td role="cell" data-label="Result">${describeState(delivery, webhook.enabled)}${
      tries > 0 ? html`<br><small>try ${tries}, ${formatCount(took_ms ?? 0)} ms</small>` : ''
    }${next !== undefined && tries > 0 ? html`<br><small>next try ${describeNext(next, now)}</small>` : ''}</td>
    <td role="cell" class="answer" data-label="Answer">${answer ? html`<code>${renderText(answer, MAX_ANSWER)}</code>` : html`<span class="muted">empty</span>`}</td>
    <td role="cell">${webhook.enabled ? renderAction(visitor, { path: action, text: 'Resend', look: 'quiet', label: `Resend: ${name}, ${at}` }) : ''}</td>
  </tr>`;
}

/** Nothing is “just now” that is still to come. */
function describeNext(next: Date, now: Date): Html | string {
  if (next <= now) return 'at once';
  const isSoon = next.getTime() - now.getTime() < 60_000;
  return isSoon ? 'within a minute' : renderTime(toInstant(next), now);
}

function renderDeletion({ id, url }: Webhook, visitor: Visitor): Html {
  return html`<section class="card" id="confirm">
    <h1 id="dialog-title">Delete this endpoint?</h1>
    <p>Nothing more is sent to <code>${toShortUrl(url)}</code>, and what waits for it is dropped. Its secret is lost.</p>
    <form method="post" action="${WEBHOOKS_PATH}/${id}/delete" class="choices">
      ${renderFormToken(visitor)}
      <a href="${WEBHOOKS_PATH}/${id}" role="button" class="secondary">Keep it</a>
      <button class="danger">Delete endpoint</button>
    </form>
  </section>`;
}
