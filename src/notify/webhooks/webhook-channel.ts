import type { OpenSealing } from '../../domain/access/sealing.ts';
import { ignoreNotFound } from '../../domain/failure.ts';
import { toInstant } from '../../domain/instant.ts';
import { disableFailingWebhook, findWebhook, type Webhook } from '../../store/notify/webhooks.ts';
import type { Batch, Channel } from '../outbox.ts';
import type { BodyDeps } from './body.ts';
import type { SendDeps } from './send.ts';

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000] as const;
/** The waits that Standard Webhooks recommends. */
const WAITS_MS = [
  ...[5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR],
  ...[10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR],
];
const AT_ONCE = 8;
/** An endpoint that does nothing but fail for so long is turned off. */
const GIVE_UP_MS = 5 * 24 * HOUR;

export interface WebhookDeps extends SendDeps, BodyDeps {
  readonly openSealing: OpenSealing;
}

export function createWebhookChannel(deps: WebhookDeps): Channel {
  const { db, now } = deps;
  const disable = (id: string, reason: 'gone' | 'failing') =>
    disableFailingWebhook(db, id, { reason, at: toInstant(now()) }).catch(ignoreNotFound);
  return {
    name: 'webhook',
    atOnce: AT_ONCE,
    waitsMs: WAITS_MS,
    deliver: async (batch) => {
      const webhook = await findWebhook(db, batch.receiverId).catch(ignoreNotFound);
      if (webhook === undefined) return;
      if (await deliverAll(deps, webhook, batch)) await disable(webhook.id, 'gone');
    },
    onFailing: async (id, failingMs) => {
      if (failingMs >= GIVE_UP_MS) await disable(id, 'failing');
    },
  };
}

/** Returns whether the endpoint said that it wants no more. */
async function deliverAll(
  deps: WebhookDeps,
  webhook: Webhook,
  { deliveries, signal, record }: Batch,
): Promise<boolean> {
  // Most installations have no webhook, and never load what sends to them.
  const { send } = await import('./send.ts');
  const { renderBody } = await import('./body.ts');
  const secrets = await unsealSecrets(deps, webhook);
  const sent = deliveries.map(async (due) => {
    const body = await renderBody(deps, webhook.format, due);
    const message = { url: webhook.url, id: due.id, body, secrets };
    const outcome = await send(deps, message, signal);
    await record(new Map([[due, outcome]]));
    return outcome.kind === 'refused';
  });
  return (await Promise.all(sent)).includes(true);
}

/** The current one first. */
async function unsealSecrets(
  { openSealing, now }: WebhookDeps,
  { id, sealedSecret, oldSealedSecret, oldUntil }: Webhook,
): Promise<string[]> {
  const { unseal } = await openSealing();
  const secrets = [unseal(sealedSecret, id)];
  const isOldGood = oldUntil !== null && toInstant(now()) < oldUntil;
  if (oldSealedSecret !== null && isOldGood) secrets.push(unseal(oldSealedSecret, id));
  return secrets;
}
