import { randomUUID } from 'node:crypto';
import { type Expression, type Selectable, type SqlBool, sql } from 'kysely';
import type { EventType } from '../../domain/events.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Tx } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import { prepareRows } from '../engine/many-rows.ts';
import { prepareQuery, runAllPrepared, runPrepared } from '../engine/prepared.ts';
import type { Tables } from '../tables.ts';

export interface NewEvent {
  readonly accountId: string;
  readonly type: EventType;
  readonly at: Instant;
  /** JSON of an object. */
  readonly data: string;
}

/** Whether an account has a receiver, as a part of a statement that has its row in hand anyway. */
export function hasReceivers(accountId: Expression<unknown>) {
  return sql<SqlBool>`exists (select 1 from receiver where account_id = ${accountId} and enabled = 1)`;
}

/**
 * Writes events with a delivery for each receiver of them, in the transaction of what happened. Nothing is written where
 * nobody receives it. Receivers are locked after accounts (decision 64).
 */
export async function insertEvents(tx: Tx, events: readonly NewEvent[]): Promise<void> {
  const receivers = await lockReceivers(tx, events);
  const told = events.flatMap((event) => {
    const ids = receivers.filter((receiver) => isFor(receiver, event)).map(({ id }) => id);
    return ids.length === 0 ? [] : { id: randomUUID(), ids, event };
  });
  await insertDeliveries(tx, told);
}

/** The same for one receiver, whatever it has chosen and whether it is on. */
export async function insertEventFor(tx: Tx, receiverId: string, event: NewEvent): Promise<string> {
  const id = randomUUID();
  await insertDeliveries(tx, [{ id, ids: [receiverId], event }]);
  return id;
}

interface Receiver {
  readonly id: string;
  readonly account_id: string;
  readonly event_types: string;
}

async function lockReceivers(tx: Tx, events: readonly NewEvent[]): Promise<Receiver[]> {
  const accounts = [...new Set(events.map(({ accountId }) => accountId))];
  if (accounts.length === 0) return [];
  return await runPrepared(tx, lockedReceivers({ accounts: JSON.stringify(accounts) }));
}

const lockedReceivers = prepareQuery<{ accounts: string }, Receiver>((db, param) =>
  db
    .selectFrom('receiver')
    .select(['id', 'account_id', 'event_types'])
    .where(dialectOf(db).isIn(sql.ref('account_id'), param('accounts'), 'uuid'))
    .where('enabled', '=', sql.lit(1))
    .orderBy('id')
    .$call(dialectOf(db).locked),
);

function isFor({ account_id, event_types }: Receiver, { accountId, type }: NewEvent): boolean {
  return account_id === accountId && event_types.split(' ').includes(type);
}

interface Told {
  readonly id: string;
  /** Of its receivers. */
  readonly ids: readonly string[];
  readonly event: NewEvent;
}

async function insertDeliveries(tx: Tx, told: readonly Told[]): Promise<void> {
  if (told.length === 0) return;
  const rows = told.map(({ id, event: { accountId: account_id, ...event } }) => {
    return { id, account_id, ...event };
  });
  const inserted = (await runAllPrepared(tx, eventInserts(rows))).flat();
  const seqs = new Map(inserted.map(({ id, seq }) => [id, seq]));
  const deliveries = told.flatMap(({ id, ids }) =>
    ids.map((receiver_id) => ({ event_seq: seqs.get(id) as number, receiver_id })),
  );
  const receivers = JSON.stringify([...new Set(told.flatMap(({ ids }) => ids))]);
  await runAllPrepared(tx, [...deliveryInserts(deliveries), dueUpdate({ receivers })]);
}

type EventRow = Pick<Selectable<Tables['event']>, 'id' | 'account_id' | 'type' | 'at' | 'data'>;

const eventInserts = prepareRows<EventRow, { readonly seq: number; readonly id: string }>(
  ['id', 'account_id', 'type', 'at', 'data'],
  (db, rows) => db.insertInto('event').values(rows).returning(['seq', 'id']),
);

const deliveryInserts = prepareRows<{ event_seq: number; receiver_id: string }, never>(
  ['event_seq', 'receiver_id'],
  (db, rows) => {
    const waiting = { due_at_ms: dialectOf(db).clockMs, state: sql.lit('waiting' as const) };
    return db.insertInto('delivery').values(rows.map((row) => ({ ...row, ...waiting })));
  },
);

/** Of deliveries that are due at once. */
export async function makeDue(tx: Tx, receiverIds: readonly string[]): Promise<void> {
  await runPrepared(tx, dueUpdate({ receivers: JSON.stringify(receiverIds) }));
}

const dueUpdate = prepareQuery<{ receivers: string }, never>((db, param) => {
  const { clockMs: due_at_ms, isIn } = dialectOf(db);
  return db
    .updateTable('receiver')
    .set({ due_at_ms })
    .where(isIn(sql.ref('id'), param('receivers'), 'uuid'))
    .where((eb) => eb.or([eb('due_at_ms', 'is', null), eb('due_at_ms', '>', due_at_ms)]));
});
