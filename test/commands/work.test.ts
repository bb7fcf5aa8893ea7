import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { addDays, toInstant } from '../../src/domain/instant.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { aWorld, reportOf, type Sent } from '../alerts/world.ts';
import { aCommand, finish, printed } from '../support/command.ts';
import { aDatabasePath } from '../support/store.ts';

const MINUTE_MS = 60_000;

/** A database file with an alert that is due: yesterday's pass rate fell, and its domain was evaluated an hour ago. */
async function aDueDatabase() {
  const path = aDatabasePath();
  const store = await openStore(path);
  const world = await aWorld(store);
  const today = toInstant(new Date()).slice(0, 10);
  for (let n = -9; n <= -2; n++) {
    const sent: Sent = ['192.0.2.1', 1000, n === -2 ? 500 : 990];
    const at = `${addDays(today, n + 1)}T06:00:00Z`;
    await world.receive([reportOf(world.name, addDays(today, n), [sent])], at);
  }
  const before = (ms: number) => toInstant(new Date(Date.now() - ms));
  const own = { name: `alerts:${world.id[0]}`, ran_at: before(60 * MINUTE_MS) };
  await store.db.write((tx) => tx.insertInto('lease').values(own).execute());
  const evaluated = async () =>
    await store.db
      .selectFrom('lease')
      .select('name')
      .where('name', 'like', 'alerts%')
      .where('ran_at', '>', before(MINUTE_MS))
      .execute();
  return { path, store, alerts: world.alerts, evaluated };
}

test('work fires the alerts that are due, an hour after the last time, and serve --only api does not', async () => {
  const { path, store, alerts, evaluated } = await aDueDatabase();
  const { start } = await aCommand({ PLUMBLINE_DATABASE: path });
  const server = start('serve', '--only', 'api', '--json');
  const served = finish(server);
  const { url } = JSON.parse(await printed(server, /\n/));
  const answer = await fetch(`${url}/readyz`);
  expect([answer.status, await alerts(), await evaluated()]).toEqual([200, [], []]);

  const worker = start('work', '--json');
  const worked = finish(worker);
  expect(JSON.parse(await printed(worker, /\n/))).toEqual({
    jobs: ['alerts', 'listing', 'unclaimed', 'events', 'changes', 'outbox', 'inbox'],
  });
  await expect.poll(async () => (await evaluated()).length).toBe(16);
  expect((await alerts()).map(({ type }) => type)).toEqual(['alert.alignment_regression']);
  // Both arrive while it runs: one that comes when it has ended everything would end it with a status of its own.
  for (const signal of ['SIGSTOP', 'SIGTERM', 'SIGINT', 'SIGCONT'] as const) worker.kill(signal);
  expect(await worked).toMatchObject({ status: 0 });
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  server.kill('SIGTERM');
  expect(await served).toMatchObject({ status: 0 });
  const held = await store.db.selectFrom('lease').where('holder', 'is not', null).select('name');
  expect(await held.execute()).toEqual([]);
  await store.close();
});

test('work says what it does', async () => {
  const { path, store } = await aDueDatabase();
  await store.close();
  const { start } = await aCommand({
    PLUMBLINE_DATABASE: path,
    PLUMBLINE_DNS_CHECKS: 'on',
    PLUMBLINE_DNS_SERVERS: '127.0.0.1:1',
  });
  const worker = start('work');
  expect(await printed(worker, /\n/)).toBe(
    'Plumbline works on: alerts, dns, tls, senders, names, listing, unclaimed, events, changes, outbox, inbox\n',
  );
  const ended = finish(worker);
  worker.kill('SIGTERM');
  expect(await ended).toMatchObject({ status: 0 });
});

test('work ends with an error when there is no database', async () => {
  const path = aDatabasePath();
  const { run } = await aCommand({ PLUMBLINE_DATABASE: `${dirname(path)}/none.db` });
  const { status, stderr } = await run(['work']);
  expect(status).toBe(1);
  expect(stderr).toMatch(/none\.db/);
});
