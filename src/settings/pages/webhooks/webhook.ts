import type { Request, Response } from 'express';
import { insertTest, listDeliveries, resend } from '../../../store/notify/deliveries.ts';
import {
  deleteWebhook,
  findWebhook,
  rotateWebhook,
  updateWebhook,
} from '../../../store/notify/webhooks.ts';
import type { PageHandler, SettingsDeps } from '../../deps.ts';
import { sendPage } from '../../frame/page.ts';
import { idOf, readQuery } from '../../request.ts';
import { actorOf, redirectWithNotice, visitorOf } from '../../visitor.ts';
import { renderDeletion, renderWebhookPage } from './webhook-view.ts';
import { openForSecret } from './webhooks.ts';
import { type CreatedWebhook, WEBHOOKS_PATH } from './webhooks-view.ts';

export const showWebhook: PageHandler = async (deps, req, res) => {
  await sendWebhook(deps, req, res);
};

const toPath = (req: Request) => `${WEBHOOKS_PATH}/${idOf(req)}`;

export const testWebhook: PageHandler = async (deps, req, res) => {
  await insertTest(deps.store.db, idOf(req), actorOf(req, res, deps));
  const notice = 'A test is on its way. Load this page again to see the answer.';
  await redirectWithNotice(deps, res, { path: toPath(req), notice });
};

export const resendEvent: PageHandler = async (deps, req, res) => {
  await resend(deps.store.db, idOf(req), idOf(req, 'event'), actorOf(req, res, deps));
  const notice = 'The event is sent again. Load this page again to see the answer.';
  await redirectWithNotice(deps, res, { path: toPath(req), notice });
};

export const enableWebhook: PageHandler = async (deps, req, res) => {
  await updateWebhook(deps.store.db, idOf(req), true, actorOf(req, res, deps));
  const notice = 'The endpoint is on.';
  await redirectWithNotice(deps, res, { path: toPath(req), notice });
};

export const disableWebhook: PageHandler = async (deps, req, res) => {
  await updateWebhook(deps.store.db, idOf(req), false, actorOf(req, res, deps));
  const notice = 'The endpoint is off: nothing is sent to it.';
  await redirectWithNotice(deps, res, { path: toPath(req), notice });
};

/** Shows the new secret in the answer itself. */
export const renewSecret: PageHandler = async (deps, req, res) => {
  const by = actorOf(req, res, deps);
  const sealing = await openForSecret(deps);
  const rotated = await rotateWebhook(deps.store.db, idOf(req), { sealing, by });
  await sendWebhook(deps, req, res, rotated);
};

export const askToDeleteWebhook: PageHandler = async ({ store }, req, res) => {
  const visitor = visitorOf(res);
  const main = renderDeletion(await findWebhook(store.db, idOf(req), visitor), visitor);
  await sendPage(res, { title: 'Delete an endpoint', current: 'webhooks', main });
};

export const removeWebhook: PageHandler = async (deps, req, res) => {
  await deleteWebhook(deps.store.db, idOf(req), actorOf(req, res, deps));
  const notice = 'The endpoint is deleted.';
  await redirectWithNotice(deps, res, { path: WEBHOOKS_PATH, notice });
};

const PER_PAGE = 25;

async function sendWebhook(
  { store: { db }, now }: SettingsDeps,
  req: Request,
  res: Response,
  created?: CreatedWebhook,
): Promise<void> {
  const visitor = visitorOf(res);
  const webhook = await findWebhook(db, idOf(req), visitor);
  const text = readQuery(req, 'before');
  const before = /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  const read = await listDeliveries(db, webhook.id, { limit: PER_PAGE + 1, before });
  const deliveries = read.slice(0, PER_PAGE);
  const older = read.length > PER_PAGE ? deliveries.at(-1)?.event_seq : undefined;
  const view = { webhook, deliveries, older, created, now: now() };
  const main = renderWebhookPage(visitor, view);
  await sendPage(res, { title: 'Webhook', current: 'webhooks', main });
}
