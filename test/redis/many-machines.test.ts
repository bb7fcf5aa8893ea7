import { expect, onTestFinished, test } from 'vitest';
import { createDatabase } from '../../scripts/postgres-database.ts';
import { addDays, toInstant } from '../../src/domain/instant.ts';
import { openStore } from '../../src/store/engine/open.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { aWorld, reportOf, type Sent } from '../alerts/world.ts';
import { aKey } from '../support/builders.ts';
import { aCommand, finish, printed } from '../support/command.ts';
import { startPostgres } from '../support/postgres.ts';
import { aRedis } from './redis-server.ts';

const ROUNDS = 5;

/** A store on PostgreSQL, and what a process needs in order to use the same database and the same Redis. */
async function aSharedInstallation() {
  const [server, redis] = [await startPostgres(), await aRedis()];
  const database = await createDatabase(server.toUrl('postgres'));
  const store = await openStore(database);
  onTestFinished(async () => {
    await store.close();
    await server.stop();
  });
  const { start } = await aCommand({
    PLUMBLINE_DATABASE: database,
    PLUMBLINE_REDIS: `redis://127.0.0.1:${redis.port}`,
    PLUMBLINE_REQUESTS_PER_IP: '1000000',
    PLUMBLINE_LOG_LEVEL: 'error',
  });
  /** Starts a process, which is ended after the test, and returns the first line that it prints, as JSON. */
  const run = async (...args: string[]) => {
    const child = start(...args, '--json', '--quiet');
    const ended = finish(child);
    onTestFinished(async () => {
      child.kill('SIGTERM');
      expect(await ended).toMatchObject({ status: 0, stderr: '' });
    });
    return JSON.parse(await printed(child, /\n/));
  };
  return { store, run };
}

/** An alert that is due: yesterday's pass rate fell. */
async function anAlertThatIsDue(store: Store) {
  const world = await aWorld(store);
  const today = toInstant(new Date()).slice(0, 10);
  for (let n = -9; n <= -2; n++) {
    const sent: Sent = ['192.0.2.1', 1000, n === -2 ? 500 : 990];
    const at = `${addDays(today, n + 1)}T06:00:00Z`;
    await world.receive([reportOf(world.name, addDays(today, n), [sent])], at);
  }
  return world;
}

test('two processes that answer and two that work, on PostgreSQL and Redis, are one service', async () => {
  const { store, run } = await aSharedInstallation();
  const world = await anAlertThatIsDue(store);
  const urls = await Promise.all([run('serve', '--only', 'api'), run('serve', '--only', 'api')]);
  for (const { url } of urls)
    await expect
      .poll(async () => (await (await fetch(`${url}/readyz`)).json()).limits)
      .toBe('shared');

  for (let round = 0; round < ROUNDS; round++) {
    const { key } = await aKey(store.db, world.accountId);
    const headers = { Authorization: `Bearer ${key}` };
    const ask = async (_: unknown, i: number) =>
      (await fetch(`${urls[i % 2]?.url}/v1/external/domains`, { headers })).status;
    const statuses = await Promise.all(Array.from({ length: 200 }, ask));
    expect(statuses.filter((status) => status === 200)).toHaveLength(60);
    expect(statuses.filter((status) => status === 429)).toHaveLength(140);
  }

  expect(await world.alerts()).toEqual([]);
  await Promise.all([run('work'), run('work')]);
  const listDone = () =>
    store.db
      .selectFrom('lease')
      .select('name')
      .where('name', 'like', 'alerts%')
      .where('ran_at', 'is not', null)
      .execute();
  await expect.poll(async () => (await listDone()).length).toBe(16);
  expect((await world.alerts()).map(({ type }) => type)).toEqual(['alert.alignment_regression']);
});
