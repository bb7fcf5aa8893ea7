import { randomUUID } from 'node:crypto';
import { type Expression, type Selectable, type SqlBool, sql } from 'kysely';
import { EVENT_DAYS, type EventType } from '../../domain/events.ts';
import { DAY_MS, type Instant, later } from '../../domain/instant.ts';
import type { Db, Queries, Tx } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import { prepareRows, type RowOf } from '../engine/many-rows.ts';
import { runAllPrepared } from '../engine/prepared.ts';
import { toFeedCursor } from '../lists/changes.ts';
import type { Tables } from '../tables.ts';
import { readNow } from '../work/clock.ts';
import type { NoteGone } from '../work/gone.ts';

export interface NewEvent {
  readonly accountId: string;
  readonly type: EventType;
  readonly at: Instant;
  /** JSON of an object. */
  readonly data: string;
}

/** Whether a receiver is told: people are while there is a mail server. */
export const isTold = sql<SqlBool>`receiver.enabled = 1
  and (receiver.channel = 'webhook' or exists (select 1 from mail_server))`;

/** Whether an account has a receiver of a type, as a part of a statement that has its row in hand anyway. */
export function hasReceivers(accountId: Expression<unknown>, type: EventType) {
  const pattern = sql.lit(`% ${type} %`);
  return sql<SqlBool>`exists (select 1 from receiver
    where account_id = ${accountId} and ${isTold} and ' ' || event_types || ' ' like ${pattern})`;
}

/** Runs in the transaction of what happened, which pays for one row, however many are told of it: `writeDeliveries`. */
export async function insertEvents(tx: Tx, events: readonly NewEvent[]): Promise<void> {
  if (events.length > 0) await runAllPrepared(tx, eventInserts(events.map(toRow)));
}

interface ToldChange extends Pick<NewEvent, 'accountId' | 'at'> {
  readonly type: (`${'report' | 'tls_report' | 'domain'}.${string}` & EventType) | 'report.removed';
  /** One for each event, without a cursor. */
  readonly data: readonly object[];
}

/** Before the changes take their numbers: each event has the feed's cursor from before them. */
export async function tellOfChanges(tx: Tx, { data, ...change }: ToldChange): Promise<void> {
  const { accountId, type } = change;
  const [point] = await tx
    .selectFrom('account')
    .select(['changes as number', 'changes_nonce as nonce'])
    .where('id', '=', accountId)
    .where(hasReceivers(sql.ref('account.id'), type))
    .execute();
  if (point === undefined) return;
  const cursor = toFeedCursor(accountId, point);
  const toData = (one: object) => JSON.stringify({ ...one, cursor });
  await insertEvents(
    tx,
    data.map((one) => ({ ...change, data: toData(one) })),
  );
}

type EventRow = Pick<Selectable<Tables['event']>, 'id' | 'account_id' | 'type' | 'at' | 'data'>;

function toRow({ accountId: account_id, ...event }: NewEvent): EventRow {
  return { id: randomUUID(), account_id, ...event };
}

const eventInserts = prepareRows(
  ['id', 'account_id', 'type', 'at', 'data'],
  (db, rows: readonly RowOf<EventRow>[]) =>
    db.insertInto('event').values(rows.map((row) => ({ ...row, is_new: sql.lit(1 as const) }))),
);

/** An event for one receiver, whatever it has chosen and whether it is on. Locks it, after accounts (decision 64). */
export async function insertEventFor(tx: Tx, receiverId: string, event: NewEvent): Promise<string> {
  const row = { ...toRow(event), is_new: 0 as const };
  const inserted = tx.insertInto('event').values(row).returning('seq');
  const { seq: event_seq } = await inserted.executeTakeFirstOrThrow();
  await insertDeliveries(tx, [{ event_seq, receiver_id: receiverId }]);
  return row.id;
}

const EVENTS_AT_ONCE = 50;

/** Gives new events a delivery for each receiver, in bounded transactions. What nobody receives is deleted. */
export async function writeDeliveries(db: Db, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await selectNew(db).limit(1).execute()).length > 0)
    await db.write(async (tx) => {
      const query = selectNew(tx).limit(EVENTS_AT_ONCE).$call(dialectOf(tx).locked);
      const events = await query.execute();
      const receivers = await lockReceivers(tx, events);
      const deliveries = events.flatMap(({ seq: event_seq, ...event }) =>
        receivers
          .filter((receiver) => isFor(receiver, event))
          .map(({ id: receiver_id }) => ({ event_seq, receiver_id })),
      );
      await insertDeliveries(tx, deliveries);
      const told = new Set(deliveries.map(({ event_seq }) => event_seq));
      const untold = events.filter(({ seq }) => !told.has(seq)).map(({ seq }) => seq);
      await deleteEvents(tx, untold);
      const old = tx.updateTable('event').set({ is_new: 0 });
      if (told.size > 0) await old.where('seq', 'in', [...told]).execute();
    });
}

function selectNew(db: Queries) {
  return db
    .selectFrom('event')
    .select(['seq', 'account_id', 'type'])
    .where('is_new', '=', sql.lit(1))
    .orderBy('seq');
}

type Told = Pick<EventRow, 'account_id' | 'type'>;

type Receiver = Awaited<ReturnType<typeof lockReceivers>>[number];

async function lockReceivers(tx: Tx, events: readonly Told[]) {
  const accounts = [...new Set(events.map(({ account_id }) => account_id))];
  if (accounts.length === 0) return [];
  const receivers = tx
    .selectFrom('receiver')
    .select(['id', 'account_id', 'event_types'])
    .where('account_id', 'in', accounts)
    .where(isTold)
    .orderBy('id');
  return await receivers.$call(dialectOf(tx).locked).execute();
}

function isFor(receiver: Receiver, { account_id, type }: Told): boolean {
  return receiver.account_id === account_id && receiver.event_types.split(' ').includes(type);
}

type NewDelivery = Pick<Selectable<Tables['delivery']>, 'event_seq' | 'receiver_id'>;

async function insertDeliveries(tx: Tx, deliveries: readonly NewDelivery[]): Promise<void> {
  if (deliveries.length === 0) return;
  const receivers = [...new Set(deliveries.map(({ receiver_id }) => receiver_id))];
  await runAllPrepared(tx, deliveryInserts(deliveries));
  await makeDue(tx, receivers);
}

const deliveryInserts = prepareRows(
  ['event_seq', 'receiver_id'],
  (db, rows: readonly RowOf<NewDelivery>[]) => {
    const waiting = { due_at_ms: dialectOf(db).clockMs, state: sql.lit('waiting' as const) };
    return db.insertInto('delivery').values(rows.map((row) => ({ ...row, ...waiting })));
  },
);

/** The receivers have deliveries that are due at once. */
export async function makeDue(tx: Tx, receiverIds: readonly string[]): Promise<void> {
  const { clockMs: due_at_ms } = dialectOf(tx);
  await tx
    .updateTable('receiver')
    .set({ due_at_ms })
    .where('id', 'in', receiverIds)
    .where((eb) => eb.or([eb('due_at_ms', 'is', null), eb('due_at_ms', '>', due_at_ms)]))
    .execute();
}

/** Events first: whoever writes their deliveries holds them. */
export async function deleteEvents(tx: Tx, seqs: readonly number[]): Promise<void> {
  if (seqs.length === 0) return;
  await tx.deleteFrom('event').where('seq', 'in', seqs).execute();
  await tx.deleteFrom('delivery').where('event_seq', 'in', seqs).execute();
}

const DELETED_AT_ONCE = 200;

/** Deletes old events with their deliveries, in bounded transactions. Returns whether it came to the end. */
export async function deleteOldEvents(
  db: Db,
  mayGoOn: () => Promise<boolean> = async () => true,
  noteGone?: NoteGone,
) {
  const before = later(await readNow(db), -EVENT_DAYS * DAY_MS);
  while (await mayGoOn()) {
    const first = db.selectFrom('event').select(['seq', 'at']).orderBy('seq');
    const rows = await first.limit(DELETED_AT_ONCE).execute();
    const old = rows.filter(({ at }) => at < before).map(({ seq }) => seq);
    if (old.length === 0) return true;
    await db.write((tx) => deleteEvents(tx, old));
    noteGone?.('events', old.length);
  }
  return false;
}
