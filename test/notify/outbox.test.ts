import { describe, expect, test } from 'vitest';
import { parseStart } from '../../src/domain/cursor.ts';
import { EVENT_DAYS } from '../../src/domain/events.ts';
import { later, toInstant } from '../../src/domain/instant.ts';
import { alertsOf } from '../../src/store/alerts/alert-list.ts';
import { fireAlert } from '../../src/store/alerts/alerts.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { deleteOldEvents } from '../../src/store/events/events.ts';
import { readFeed } from '../../src/store/feed/feed.ts';
import { feedList } from '../../src/store/lists/changes.ts';
import { readPage } from '../../src/store/lists/page.ts';
import {
  claimReceivers,
  correctDue,
  listDueDeliveries,
  recordOutcomes,
} from '../../src/store/notify/claims.ts';
import {
  aBareAccount,
  aDomain,
  anAlert,
  aReport,
  NOW,
  receive,
  resolveAlert,
} from '../support/builders.ts';
import { aChannel, aReceiver, deliverAll, forgetWaits, tellReceivers } from '../support/outbox.ts';
import { aStore } from '../support/store.ts';

async function aWorld() {
  const store = await aStore();
  const { db } = store;
  const accountId = await aBareAccount(db);
  const { id: domainId, name } = await aDomain(db, accountId);
  return { store, db, accountId, domainId, name, owner: { accountId, domainId } };
}

const listEvents = (db: Store['db']) =>
  db.selectFrom('event').select(['type', 'data', 'account_id']).orderBy('seq').execute();
const listDeliveries = (db: Store['db']) => db.selectFrom('delivery').selectAll().execute();

describe('events', () => {
  test('nothing is written where nobody receives it', async () => {
    const { db, owner, name } = await aWorld();
    const other = await aBareAccount(db);
    await aReceiver(db, other);
    await anAlert(db, owner, { resolvedAt: NOW });
    await receive(db, [aReport({ domain: name })]);
    expect(await listEvents(db)).toEqual([]);
  });

  test('an alert is told as the API lists it, when it fires and when it resolves', async () => {
    const { store, db, owner, accountId, domainId } = await aWorld();
    await aReceiver(db, accountId);
    const read = async () => {
      const list = alertsOf({ accountId, domainId });
      return (await readPage(store.reader, list, { limit: 1, offset: 0 })).items;
    };
    const id = await anAlert(db, owner);
    const fired = await read();
    await resolveAlert(db, id, NOW);
    const resolved = await read();
    const events = await listEvents(db);
    expect(events.map(({ type }) => type)).toEqual(['alert.fired', 'alert.resolved']);
    expect(events.map(({ data }) => data)).toEqual([...fired, ...resolved]);
  });

  test('an alert that could not be stored is not told', async () => {
    const { db, owner, accountId } = await aWorld();
    await aReceiver(db, accountId);
    const failing = db.write(async (tx) => {
      await fireAlert(tx, { ...owner, type: 'alert.x', firedAt: NOW, context: {} });
      throw new Error('the transaction fails');
    });
    await expect(failing).rejects.toThrow('the transaction fails');
    expect(await listEvents(db)).toEqual([]);
  });

  test('reports of one transaction are one event, whose cursor lists them', async () => {
    const { store, db, accountId, domainId, name } = await aWorld();
    await receive(db, [aReport({ domain: name })]);
    await aReceiver(db, accountId);
    await receive(db, [aReport({ domain: name }), aReport({ domain: name })]);
    const [event] = await listEvents(db);
    const data = JSON.parse(event?.data ?? '{}');
    expect(data).toMatchObject({ domain_id: domainId, report_count: 2 });
    const start = parseStart(feedList(accountId), data.cursor);
    expect(start).toBeDefined();
    const page = await readFeed(store.reader, { accountId, start: start ?? 'start', limit: 9 });
    expect(page?.items).toHaveLength(2);
  });

  test('a receiver gets only the types that it has chosen, and what nobody receives goes', async () => {
    const { db, owner, accountId } = await aWorld();
    const fired = await aReceiver(db, accountId, { types: ['alert.fired'] });
    await anAlert(db, owner, { resolvedAt: NOW });
    await tellReceivers(db);
    expect((await listEvents(db)).map(({ type }) => type)).toEqual(['alert.fired']);
    const { channel, got } = aChannel(() => ({ kind: 'delivered' }));
    await deliverAll(db, channel);
    expect(got.map(({ receiverId, type }) => [receiverId, type])).toEqual([[fired, 'alert.fired']]);
  });
});

describe('deliveries', () => {
  test('are written once, however many processes write them at the same time', async () => {
    const { db, accountId, owner } = await aWorld();
    await aReceiver(db, accountId);
    for (let i = 0; i < 60; i += 1) await anAlert(db, owner, { type: `alert.${i}` });
    await Promise.all(Array.from({ length: 4 }, () => tellReceivers(db)));
    expect(await listEvents(db)).toHaveLength(60);
    expect(await listDeliveries(db)).toHaveLength(60);
  });

  test('each receiver gets each event once when all succeed', async () => {
    const { db, accountId, owner } = await aWorld();
    const ids = [await aReceiver(db, accountId), await aReceiver(db, accountId)];
    for (let i = 0; i < 9; i += 1) await anAlert(db, owner, { type: `alert.${i}` });
    const { channel, got } = aChannel(() => ({ kind: 'delivered', status: 200, answer: 'ok' }));
    await deliverAll(db, channel);
    for (const id of ids)
      expect(new Set(got.filter((one) => one.receiverId === id).map((one) => one.id)).size).toBe(9);
    expect(got).toHaveLength(18);
    expect(await listDeliveries(db)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ state: 'delivered', tries: 1, status: 200, due_at_ms: null }),
      ]),
    );
  });

  test('what fails is tried as often as the schedule says, with the same id', async () => {
    const { db, accountId, owner } = await aWorld();
    await aReceiver(db, accountId);
    await anAlert(db, owner);
    const { channel, got } = aChannel(() => ({ kind: 'failed', status: 500 }), {
      waitsMs: [1e6, 1e6],
    });
    for (let i = 0; i < 5; i += 1) {
      await deliverAll(db, channel);
      await forgetWaits(db);
    }
    expect(new Set(got.map(({ id }) => id)).size).toBe(1);
    expect(got).toHaveLength(3);
    expect(await listDeliveries(db)).toMatchObject([{ state: 'failed', tries: 3, status: 500 }]);
  });

  test('a wait is the one of the schedule, give or take a fifth, or as long as was asked for', async () => {
    const { db, accountId, owner } = await aWorld();
    await aReceiver(db, accountId);
    for (let i = 0; i < 8; i += 1) await anAlert(db, owner, { type: `alert.${i}` });
    await tellReceivers(db);
    const asked = (await listDeliveries(db))[0]?.event_seq;
    const begun = Date.now();
    const { channel } = aChannel(
      ({ event_seq }) => ({
        kind: 'failed',
        atLeastMs: event_seq === asked ? 9_000_000 : undefined,
      }),
      { waitsMs: [1_000_000] },
    );
    await deliverAll(db, channel);
    const waits = (await listDeliveries(db)).map((row) => [
      row.event_seq,
      (row.due_at_ms ?? 0) - begun,
    ]);
    for (const [seq = 0, waitMs = 0] of waits) {
      expect(waitMs).toBeGreaterThanOrEqual(seq === asked ? 9_000_000 : 799_000);
      expect(waitMs).toBeLessThan(seq === asked ? 9_300_000 : 1_230_000);
    }
  });

  test('one that is refused is not tried again', async () => {
    const { db, accountId, owner } = await aWorld();
    await aReceiver(db, accountId);
    await anAlert(db, owner);
    const { channel, got } = aChannel(() => ({ kind: 'refused' }), { waitsMs: [0, 0] });
    await deliverAll(db, channel);
    expect(got).toHaveLength(1);
    expect(await listDeliveries(db)).toMatchObject([{ state: 'failed' }]);
  });

  test('one that is postponed is no try', async () => {
    const { db, accountId, owner } = await aWorld();
    await aReceiver(db, accountId);
    await anAlert(db, owner);
    const { channel } = aChannel(() => ({ kind: 'postponed', atLeastMs: 1e6 }));
    await deliverAll(db, channel);
    expect(await listDeliveries(db)).toMatchObject([{ state: 'waiting', tries: 0 }]);
  });

  test('a receiver that has only failed rests, and says for how long', async () => {
    const { db, accountId, owner } = await aWorld();
    const receiver = await aReceiver(db, accountId);
    const since = Date.now() - 1e6;
    const failing = { failing_since_ms: since };
    await db.write((tx) => tx.updateTable('receiver').set(failing).execute());
    await anAlert(db, owner);
    const told: unknown[] = [];
    const { channel, got } = aChannel(() => ({ kind: 'failed' }), {
      waitsMs: [1e6],
      onFailing: async (id, failingMs) => {
        told.push(id, failingMs >= 1e6);
      },
    });
    await deliverAll(db, channel);
    await anAlert(db, owner, { type: 'alert.later' });
    await deliverAll(db, channel);
    expect(got).toHaveLength(1);
    expect(told).toEqual([receiver, true]);
  });

  test('a claim that another process let end is taken over, and its late result changes nothing', async () => {
    const { db, accountId, owner } = await aWorld();
    await aReceiver(db, accountId);
    await anAlert(db, owner);
    await tellReceivers(db);
    const wanted = { holder: 'dead', channel: 'webhook' as const, limit: 9 };
    const [dead] = await claimReceivers(db, wanted);
    if (dead === undefined) throw new Error('Nothing is due.');
    const [due] = await listDueDeliveries(db, dead, 1);
    if (due === undefined) throw new Error('Nothing is due.');
    expect(await claimReceivers(db, { ...wanted, holder: 'other' })).toEqual([]);
    await db.write((tx) => tx.updateTable('receiver').set({ free_at_ms: 0 }).execute());
    const { channel, got } = aChannel(() => ({ kind: 'delivered' }));
    await deliverAll(db, channel);
    await recordOutcomes(db, dead, new Map([[due, { kind: 'refused' }]]), []);
    expect(got).toHaveLength(1);
    expect(await listDeliveries(db)).toMatchObject([{ state: 'delivered', tries: 1 }]);
  });

  test('a receiver with many deliveries is not claimed before one that has waited longer', async () => {
    const { db, accountId, owner } = await aWorld();
    const many = await aReceiver(db, accountId, { types: ['alert.fired'] });
    for (let i = 0; i < 9; i += 1) await anAlert(db, owner, { type: `alert.${i}` });
    await tellReceivers(db);
    const { channel } = aChannel(() => ({ kind: 'delivered' }));
    const wanted = { holder: 'one', channel: 'webhook' as const, limit: 1 };
    const claimed = await claimReceivers(db, wanted);
    expect(claimed.map(({ receiverId }) => receiverId)).toEqual([many]);
    const free = { free_at_ms: Date.now() - 1_000 };
    await db.write((tx) => tx.updateTable('receiver').set(free).execute());
    const few = await aReceiver(db, accountId);
    await anAlert(db, owner, { type: 'alert.last' });
    await tellReceivers(db);
    const next = await claimReceivers(db, wanted);
    expect(next.map(({ receiverId }) => receiverId)).toEqual([few]);
    expect(channel.atOnce).toBeLessThan(9);
  });

  test('a clock that was set back holds no receiver up', async () => {
    const { db, accountId, owner } = await aWorld();
    await aReceiver(db, accountId);
    await anAlert(db, owner);
    const ahead = { free_at_ms: Date.now() + 864e5 };
    await db.write((tx) => tx.updateTable('receiver').set(ahead).execute());
    const { channel, got } = aChannel(() => ({ kind: 'delivered' }));
    await deliverAll(db, channel);
    expect(got).toHaveLength(1);
  });

  test('a delivery waited for the time that the clock had before it was set back', async () => {
    const { db, accountId, owner } = await aWorld();
    await aReceiver(db, accountId);
    await anAlert(db, owner);
    await tellReceivers(db);
    const { channel, got } = aChannel(() => ({ kind: 'delivered' }));
    const ahead = { due_at_ms: Date.now() + 30 * 864e5 };
    for (const table of ['receiver', 'delivery'] as const)
      await db.write((tx) => tx.updateTable(table).set(ahead).execute());
    await deliverAll(db, channel);
    expect(got).toHaveLength(0);
    await correctDue(db);
    await deliverAll(db, channel);
    expect(got).toHaveLength(1);
  });

  test('events go with their deliveries after the days that they are kept', async () => {
    const { db, accountId, owner } = await aWorld();
    await aReceiver(db, accountId);
    const old = later(toInstant(new Date()), -(EVENT_DAYS + 1) * 864e5);
    for (let i = 0; i < 201; i += 1) await anAlert(db, owner, { type: `alert.${i}`, firedAt: old });
    await anAlert(db, owner, { type: 'alert.now', firedAt: toInstant(new Date()) });
    await tellReceivers(db);
    await deleteOldEvents(db);
    expect(await listEvents(db)).toHaveLength(1);
    expect(await listDeliveries(db)).toHaveLength(1);
  });
});
