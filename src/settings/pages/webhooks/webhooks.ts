import type { Response } from 'express';
import { html } from 'hono/html';
import type { Sealing } from '../../../domain/access/sealing.ts';
import { Failure } from '../../../domain/failure.ts';
import { parseWebhookUrl } from '../../../domain/webhooks/address.ts';
import {
  FORMATS,
  findTwice,
  parseDescription,
  parseWebhookEvents,
  WEBHOOK_EVENTS,
} from '../../../domain/webhooks/webhook.ts';
import { listDeliveries } from '../../../store/notify/deliveries.ts';
import { insertWebhook, listWebhooks } from '../../../store/notify/webhooks.ts';
import type { PageHandler, SettingsDeps } from '../../deps.ts';
import { statusOf } from '../../errors.ts';
import { sendPage } from '../../frame/page.ts';
import { readField } from '../../request.ts';
import { actorOf, visitorOf } from '../../visitor.ts';
import { openForSecret } from '../second-factor.ts';
import {
  type CreatedWebhook,
  type RefusedWebhook,
  renderSecret,
  renderWebhookCreation,
  renderWebhooks,
} from './webhooks-view.ts';

export const showWebhooks: PageHandler = (deps, _req, res) => sendWebhooks(deps, res);

/** Shows the secret in the answer itself: it is stored encrypted, and no later page shows it. */
export const createWebhook: PageHandler = async (deps, req, res) => {
  const by = actorOf(res, deps);
  const url = readField(req, 'url');
  const description = readField(req, 'description');
  const events = WEBHOOK_EVENTS.filter((event) => readField(req, event) !== '');
  const format = FORMATS.find((one) => one === readField(req, 'format')) ?? 'standard';
  let field: RefusedWebhook['field'] = 'url';
  try {
    const webhook = { accountId: by.accountId, url: parseWebhookUrl(url, deps.webhookAllow ?? []) };
    field = 'description';
    const rest = { format, description: parseDescription(description) };
    field = 'events';
    const chosen = parseWebhookEvents(events);
    const sealing = await openForWebhook(deps);
    const made = { ...webhook, ...rest, events: chosen };
    const created = await insertWebhook(deps.store.db, made, { sealing, by });
    await sendWebhooks(deps, res, { created });
  } catch (error) {
    if (!(error instanceof Failure) || !REFUSALS.includes(error.code)) throw error;
    const refused = { failure: error, field, url, description, events, format };
    await sendWebhooks(deps, res, { refused });
  }
};

const REFUSALS: readonly string[] = ['validation_error', 'limit_reached', 'plan_required'];

export function openForWebhook(deps: SettingsDeps): Promise<Sealing> {
  const none = 'The operator of this Plumbline has set no key for secrets.';
  return openForSecret(deps, { none, failed: 'No secret can be made' });
}

async function sendWebhooks(
  { store: { db }, now }: SettingsDeps,
  res: Response,
  { created, refused }: { created?: CreatedWebhook; refused?: RefusedWebhook } = {},
): Promise<void> {
  const visitor = visitorOf(res);
  const webhooks = await listWebhooks(db, visitor.accountId);
  const last = await Promise.all(webhooks.map(({ id }) => listDeliveries(db, id, { limit: 1 })));
  const rows = webhooks.map((webhook, i) => ({ ...webhook, last: last[i]?.[0] }));
  const twice = created && findTwice(webhooks, created.url);
  const main = html`<p class="trail">Settings / Integrations</p>
    <h1>Webhooks</h1>
    <p class="lead">Plumbline tells a program of yours, or a chat, as soon as something happens.
      <a href="/docs/webhooks">How to receive and verify deliveries</a></p>
    ${twice ? html`<p role="status">${twice}</p>` : ''}
    ${created === undefined ? '' : renderSecret(created)}
    ${renderWebhooks(rows, now())}
    ${renderWebhookCreation(visitor, webhooks.length, refused)}`;
  const status = refused === undefined ? 200 : statusOf(refused.failure, res.req);
  await sendPage(res, { title: 'Webhooks', current: 'webhooks', status, main });
}
