import { expect, test } from 'vitest';
import { readBacklog } from '../../src/store/notify/backlog.ts';
import { aBareAccount, aDomain, anAlert, NOW } from '../support/builders.ts';
import { deliverMail } from '../support/inbox.ts';
import { aReceiver } from '../support/outbox.ts';
import { aStore } from '../support/store.ts';

const HOUR_MS = 3_600_000;
const hoursAgo = (hours: number) => new Date(Date.now() - hours * HOUR_MS).toISOString();

test('nothing waits in an empty database', async () => {
  const { db } = await aStore();
  expect(await readBacklog(db)).toEqual({
    openAlerts: [],
    mails: { waiting: 0, stuck: 0 },
    oldestMailMs: 0,
    oldestDeliveryMs: 0,
    oldestEvaluationMs: undefined,
  });
});

test('open alerts count by type, and the oldest mail, delivery and evaluation have an age', async () => {
  const { db } = await aStore();
  const accountId = await aBareAccount(db);
  for (const resolvedAt of [undefined, undefined, NOW]) {
    const { id: domainId } = await aDomain(db, accountId);
    await anAlert(db, { accountId, domainId }, resolvedAt ? { resolvedAt } : {});
  }
  await deliverMail(db, { receivedAt: `${hoursAgo(3).slice(0, 19)}Z` });
  await deliverMail(db, { receivedAt: `${hoursAgo(9).slice(0, 19)}Z` });
  const [read, paused, late, mailed] = [
    await aReceiver(db, accountId),
    await aReceiver(db, accountId),
    await aReceiver(db, accountId),
    await aReceiver(db, accountId, { channel: 'mail' }),
  ];
  await db.write(async (tx) => {
    const due = (hours: number) => ({ due_at_ms: Date.now() - hours * HOUR_MS });
    await tx.updateTable('receiver').set({ due_at_ms: null }).where('id', '=', read).execute();
    const off = { ...due(7), enabled: 0 as const };
    await tx.updateTable('receiver').set(off).where('id', '=', paused).execute();
    await tx.updateTable('receiver').set(due(2)).where('id', '=', late).execute();
    // There is no mail server any more.
    await tx.updateTable('receiver').set(due(6)).where('id', '=', mailed).execute();
    for (const [name, hours] of [
      ['alerts:0', 1],
      ['alerts:1', 4],
      ['dns:0', 8],
    ] as const)
      await tx
        .insertInto('lease')
        .values({ name, ran_at: `${hoursAgo(hours).slice(0, 19)}Z` })
        .execute();
  });
  const { openAlerts, mails, ...ages } = await readBacklog(db);
  expect(openAlerts).toEqual([['alert.alignment_regression', 2]]);
  expect(mails).toEqual({ waiting: 2, stuck: 0 });
  const hours = Object.values(ages).map((ms) => Math.round((ms ?? 0) / HOUR_MS));
  // The mail that came first is the oldest to be read, whatever its date says.
  expect(hours).toEqual([3, 2, 4]);
});
