import { randomUUID } from 'node:crypto';
import type { InferResult, Selectable } from 'kysely';
import type { AuditAction } from '../../domain/access/audit-actions.ts';
import type { Sealing } from '../../domain/access/sealing.ts';
import { Failure } from '../../domain/failure.ts';
import { type Instant, later } from '../../domain/instant.ts';
import {
  createWebhookSecret,
  type Format,
  findWebhookRefusal,
  type OffReason,
  OLD_SECRET_MS,
  type WebhookEvent,
} from '../../domain/webhooks/webhook.ts';
import { findAccount, lockAccount } from '../accounts/accounts.ts';
import type { Db, Queries, Tx } from '../engine/database.ts';
import { type Actor, insertAudit, plumbline } from '../events/audit.ts';
import { insertEvents } from '../events/events.ts';
import type { Tables } from '../tables.ts';

/* Each change is recorded with its actor in one transaction. A person finds no endpoints of other accounts. */

export interface NewWebhook {
  readonly accountId: string;
  /** What `parseWebhookUrl` returned. */
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly format: Format;
  readonly description: string;
}

/** The result is the only place that has the secret in the clear. */
export async function insertWebhook(
  db: Db,
  { accountId, url, events, format, description }: NewWebhook,
  { sealing, by }: { readonly sealing: Sealing; readonly by: Actor },
): Promise<Webhook & { readonly secret: string }> {
  const id = randomUUID();
  const secret = createWebhookSecret();
  const sealed_secret = sealing.seal(secret, id);
  return await db.write(async (tx) => {
    const { plan } = await lockAccount(tx, accountId);
    const { length } = await selectWebhooks(tx, accountId).execute();
    const refusal = findWebhookRefusal(plan, length);
    if (refusal !== undefined) throw refusal;
    const event_types = events.join(' ');
    const receiver = {
      id,
      account_id: accountId,
      channel: 'webhook',
      event_types,
      enabled: 1,
    } as const;
    await tx.insertInto('receiver').values(receiver).execute();
    const row = { id, url, format, description, sealed_secret, created_at: by.at };
    await tx.insertInto('webhook').values(row).execute();
    const webhook = await findWebhook(tx, id, by);
    await auditWebhook(tx, by, 'webhook_created', webhook);
    return { ...webhook, secret };
  });
}

export async function listWebhooks(db: Queries, accountId: string): Promise<Webhook[]> {
  await findAccount(db, accountId);
  return (await selectWebhooks(db, accountId).execute()).map(toWebhook);
}

/** Throws `not_found`, also when the endpoint belongs to another account. */
export async function findWebhook(
  db: Queries,
  id: string,
  { accountId }: Pick<Actor, 'accountId'> = {},
): Promise<Webhook> {
  const row = selectWebhooks(db, accountId).where('webhook.id', '=', id);
  const none = () => new Failure('not_found', `No webhook has the id ${id}.`);
  return toWebhook(await row.executeTakeFirstOrThrow(none));
}

/** Throws `plan_required` when it may not be on. What waited meanwhile is sent. */
export function updateWebhook(db: Db, id: string, isEnabled: boolean, by: Actor): Promise<Webhook> {
  return change(db, id, by, async (tx, webhook, plan) => {
    const refusal = isEnabled ? findWebhookRefusal(plan, 0) : undefined;
    if (refusal !== undefined) throw refusal;
    await turn(tx, webhook, by, isEnabled ? 'on' : 'off');
    return await findWebhook(tx, id);
  });
}

/** What Plumbline does by itself. Owners can be told of it. */
export async function disableFailingWebhook(
  db: Db,
  id: string,
  { reason, at }: { readonly reason: Exclude<OffReason, 'plan'>; readonly at: Instant },
): Promise<void> {
  const by = plumbline(at);
  await change(db, id, by, async (tx, webhook) => {
    if (!webhook.enabled) return;
    await turn(tx, webhook, by, reason);
    const data = JSON.stringify({ webhook_id: id, url: webhook.url, reason });
    await insertEvents(tx, [{ accountId: webhook.accountId, type: 'webhook.disabled', at, data }]);
  });
}

/** Runs in the transaction in which the account leaves Pro. Returns how many were on. */
export async function disableWebhooks(tx: Tx, accountId: string, by: Actor): Promise<number> {
  const webhooks = (await selectWebhooks(tx, accountId).execute()).map(toWebhook);
  for (const webhook of webhooks) await turn(tx, webhook, by, 'plan');
  return webhooks.filter(({ enabled }) => enabled).length;
}

/** Returns the new secret. The one before signs too for OLD_SECRET_MS; one from before that does not any more. */
export function rotateWebhook(
  db: Db,
  id: string,
  { sealing, by }: { readonly sealing: Sealing; readonly by: Actor },
): Promise<Webhook & { readonly secret: string }> {
  const secret = createWebhookSecret();
  const sealed_secret = sealing.seal(secret, id);
  return change(db, id, by, async (tx, webhook) => {
    const old_until = later(by.at, OLD_SECRET_MS);
    await tx
      .updateTable('webhook')
      .set((eb) => ({ sealed_secret, old_sealed_secret: eb.ref('sealed_secret'), old_until }))
      .where('id', '=', id)
      .execute();
    await auditWebhook(tx, by, 'webhook_rotated', webhook);
    return { ...webhook, oldUntil: old_until, secret };
  });
}

/** Its deliveries go with their events. */
export function deleteWebhook(db: Db, id: string, by: Actor): Promise<Webhook> {
  return change(db, id, by, async (tx, webhook) => {
    await tx.deleteFrom('webhook').where('id', '=', id).execute();
    await tx.deleteFrom('receiver').where('id', '=', id).execute();
    await auditWebhook(tx, by, 'webhook_deleted', webhook);
    return webhook;
  });
}

export async function auditWebhook(
  tx: Tx,
  by: Actor,
  action: AuditAction,
  { accountId, url, description }: Webhook,
): Promise<void> {
  const subject = new URL(url).host;
  await insertAudit(tx, by, { accountId, action, subject, detail: description });
}

/** Locks the account, and so the endpoint against other changes. */
export async function change<T>(
  db: Db,
  id: string,
  by: Actor,
  work: (tx: Tx, webhook: Webhook, plan: Selectable<Tables['account']>['plan']) => Promise<T>,
): Promise<T> {
  return await db.write(async (tx) => {
    const { plan } = await lockAccount(tx, (await findWebhook(tx, id, by)).accountId);
    return await work(tx, await findWebhook(tx, id, by), plan);
  });
}

const TURNS = {
  on: ['webhook_enabled', 1, null],
  off: ['webhook_disabled', 0, null],
  gone: ['webhook_disabled_as_gone', 0, 'gone'],
  failing: ['webhook_disabled_as_failing', 0, 'failing'],
  plan: ['webhook_disabled_by_plan', 0, 'plan'],
} as const satisfies Record<string, readonly [AuditAction, 0 | 1, OffReason | null]>;

/** Changes nothing when it is so already. The time since which it fails begins anew when it is on again. */
async function turn(tx: Tx, webhook: Webhook, by: Actor, how: keyof typeof TURNS) {
  const [action, enabled, off_reason] = TURNS[how];
  const { id } = webhook;
  if (webhook.enabled === (enabled === 1)) return;
  const receiver = enabled === 1 ? { enabled, failing_since_ms: null } : { enabled };
  await tx.updateTable('receiver').set(receiver).where('id', '=', id).execute();
  await tx.updateTable('webhook').set({ off_reason }).where('id', '=', id).execute();
  await auditWebhook(tx, by, action, webhook);
}

function selectWebhooks(db: Queries, accountId: string | undefined) {
  return db
    .selectFrom('webhook')
    .innerJoin('receiver', 'receiver.id', 'webhook.id')
    .select(['webhook.id', 'account_id as accountId', 'url', 'format', 'description'])
    .select(['event_types', 'enabled', 'off_reason as offReason', 'created_at as createdAt'])
    .select(['sealed_secret as sealedSecret', 'old_sealed_secret as oldSealedSecret'])
    .select('old_until as oldUntil')
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId as string))
    .orderBy('created_at')
    .orderBy('webhook.id');
}

export type Webhook = Readonly<ReturnType<typeof toWebhook>>;

type WebhookRow = InferResult<ReturnType<typeof selectWebhooks>>[number];

function toWebhook({ event_types, enabled, ...webhook }: WebhookRow) {
  const events = event_types.split(' ') as WebhookEvent[];
  return { ...webhook, events, enabled: enabled === 1 };
}
