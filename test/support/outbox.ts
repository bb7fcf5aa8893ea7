import { randomUUID } from 'node:crypto';
import type { ChannelName, EventType } from '../../src/domain/events.ts';
import type { Batch, Channel } from '../../src/notify/outbox.ts';
import { createOutbox } from '../../src/notify/outbox.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { writeDeliveries } from '../../src/store/events/events.ts';
import type { DeliveryOutcome, DueDelivery } from '../../src/store/notify/claims.ts';

type Db = Store['db'];

/** Somebody who is told of events. */
export async function aReceiver(
  db: Db,
  accountId: string,
  {
    channel = 'webhook' as ChannelName,
    types = ['alert.fired', 'alert.resolved', 'report.received'] as readonly EventType[],
  } = {},
): Promise<string> {
  const id = randomUUID();
  const row = { id, account_id: accountId, channel, event_types: types.join(' '), enabled: 1 };
  await db.write((tx) =>
    tx
      .insertInto('receiver')
      .values({ ...row, enabled: 1 })
      .execute(),
  );
  return id;
}

/** A channel that records each delivery by itself, as `answer` says. */
export function aChannel(
  answer: (due: DueDelivery, receiverId: string) => DeliveryOutcome | Promise<DeliveryOutcome>,
  wanted: Partial<Channel> = {},
) {
  const got: { receiverId: string; id: string; type: string; data: unknown }[] = [];
  const deliver = async ({ receiverId, deliveries, record }: Batch) => {
    const each = deliveries.map(async (due) => {
      got.push({ receiverId, id: due.id, type: due.type, data: JSON.parse(due.data) });
      await record(new Map([[due, await answer(due, receiverId)]]));
    });
    await Promise.all(each);
  };
  const channel: Channel = { name: 'webhook', atOnce: 4, waitsMs: [], deliver, ...wanted };
  return { channel, got };
}

/** Gives what has happened so far to those who receive it. */
export function tellReceivers(db: Db): Promise<void> {
  return writeDeliveries(db, new AbortController().signal);
}

/** How much is still to be delivered, events without deliveries included. */
export async function countWaiting(db: Db): Promise<number> {
  const waiting = db.selectFrom('delivery').select('event_seq').where('state', '=', 'waiting');
  const events = db.selectFrom('event').select('seq as event_seq').where('is_new', '=', 1);
  return (await waiting.unionAll(events).execute()).length;
}

/** Delivers until nothing more is due. */
export async function deliverAll(db: Db, channel: Channel): Promise<void> {
  const logError = (error: unknown) => {
    throw error;
  };
  const outbox = createOutbox({ db, channel, logError, pollMs: 10 });
  for (let idle = 0; idle < 2; ) {
    const before = await countTried(db);
    await outbox.step(new AbortController().signal);
    await outbox.settle();
    idle = (await countTried(db)) === before ? idle + 1 : 0;
  }
}

async function countTried(db: Db): Promise<number> {
  const tries = db.selectFrom('delivery').select(({ fn }) => fn.sum<number>('tries').as('tries'));
  const { tries: sum } = await tries.executeTakeFirstOrThrow();
  return Number(sum ?? 0);
}

/** What waits is due now, and nobody rests. */
export async function forgetWaits(db: Db): Promise<void> {
  await tellReceivers(db);
  await db.write(async (tx) => {
    await tx.updateTable('delivery').set({ due_at_ms: 0 }).where('state', '=', 'waiting').execute();
    const waiting = tx.selectFrom('delivery').select('receiver_id').where('state', '=', 'waiting');
    const due = { due_at_ms: 0, free_at_ms: 0 };
    await tx.updateTable('receiver').set(due).where('id', 'in', waiting).execute();
  });
}
