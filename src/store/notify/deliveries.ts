import { Failure } from '../../domain/failure.ts';
import type { Db, Queries, Tx } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import type { Actor } from '../events/audit.ts';
import { insertEventFor, makeDue } from '../events/events.ts';
import { auditWebhook, change, type Webhook } from './webhooks.ts';

export type Delivery = Awaited<ReturnType<typeof listDeliveries>>[number];

/** Latest event first. `before` is the `event_seq` of the last one of the page before. */
export function listDeliveries(
  db: Queries,
  receiverId: string,
  { limit, before }: { readonly limit: number; readonly before?: number | undefined },
) {
  return db
    .selectFrom('delivery')
    .innerJoin('event', 'event.seq', 'delivery.event_seq')
    .select(['id', 'type', 'at', 'event_seq', 'state', 'tries', 'tried_at', 'took_ms'])
    .select(['status', 'answer', 'due_at_ms'])
    .where('receiver_id', '=', receiverId)
    .$if(before !== undefined, (query) => query.where('event_seq', '<', before as number))
    .orderBy('event_seq', 'desc')
    .limit(limit)
    .execute();
}

/** An event for this endpoint alone, whatever it has chosen. Returns the event's id. */
export function insertTest(db: Db, webhookId: string, by: Actor): Promise<string> {
  return changeOn(db, webhookId, by, async (tx, webhook) => {
    const { id, accountId } = webhook;
    await auditWebhook(tx, by, 'webhook_tested', webhook);
    const data = JSON.stringify({ webhook_id: id });
    return await insertEventFor(tx, id, { accountId, type: 'webhook.test', at: by.at, data });
  });
}

/** Sends an event again, with a schedule of its own and the same id. Throws `not_found` for one that is not kept. */
export function resend(db: Db, webhookId: string, eventId: string, by: Actor): Promise<void> {
  return changeOn(db, webhookId, by, async (tx, webhook) => {
    const { numUpdatedRows } = await tx
      .updateTable('delivery')
      .set((eb) => ({
        // One that waits may be under way, and is recorded by its number of tries.
        tries: eb.case().when('state', '=', 'waiting').then(eb.ref('tries')).else(0).end(),
        state: 'waiting' as const,
        due_at_ms: dialectOf(tx).clockMs,
      }))
      .where('receiver_id', '=', webhookId)
      .where('event_seq', '=', (eb) =>
        eb
          .selectFrom('delivery as own')
          .innerJoin('event', 'event.seq', 'own.event_seq')
          .select('seq')
          .where(({ and }) => and({ 'own.receiver_id': webhookId, 'event.id': eventId })),
      )
      .executeTakeFirst();
    if (numUpdatedRows === 0n)
      throw new Failure('not_found', `The endpoint has no delivery of the event ${eventId}.`);
    await makeDue(tx, [webhookId]);
    await auditWebhook(tx, by, 'delivery_resent', webhook);
  });
}

/** Changes an endpoint that is on. One that rests after failures is tried at once, because somebody asks for it. */
function changeOn<T>(
  db: Db,
  id: string,
  by: Actor,
  work: (tx: Tx, webhook: Webhook) => Promise<T>,
): Promise<T> {
  return change(db, id, by, async (tx, webhook) => {
    if (!webhook.enabled) throw new Failure('conflict', 'The endpoint is off. Turn it on first.');
    const receiver = tx.updateTable('receiver').set({ free_at_ms: 0 }).where('id', '=', id);
    await receiver.where('claimed_by', 'is', null).execute();
    return await work(tx, webhook);
  });
}
