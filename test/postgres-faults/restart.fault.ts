import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PATIENCE_MS } from '../support/every-suite.ts';
import { startPostgres, type TestServer } from '../support/postgres.ts';
import { runOn } from '../support/postgres-stores.ts';
import { listMiscounts } from '../support/recount.ts';
import { load, repeat, serveOn } from './served.ts';

let server: TestServer;
let served: Awaited<ReturnType<typeof serveOn>>;
/** All reports that were stored, with the first. */
let reports = 1;

beforeAll(async () => {
  // What was committed stays when the server is killed.
  server = await startPostgres({ settings: { synchronous_commit: 'on', full_page_writes: 'on' } });
  served = await serveOn(server.toUrl('postgres'));
});
afterAll(async () => {
  await served.stop();
  await server.stop();
});

/** Every answer was one of the contract, everything that was stored is there, and every count is right. */
async function holdStored(end: ReturnType<typeof load>['end']): Promise<Record<number, number>> {
  const { statuses, stored, failed } = await end();
  const { db } = served.store;
  const total = async () =>
    Number(
      (await db.selectFrom('domain').select('reports_total').executeTakeFirstOrThrow())
        .reports_total,
    );
  expect(await total()).toBeGreaterThanOrEqual(reports + stored.length);
  expect(await listMiscounts(db)).toEqual({});
  await repeat(served.store, failed);
  reports += stored.length + failed.length;
  expect(await total()).toBe(reports);
  expect(await listMiscounts(db)).toEqual({});
  const others = Object.keys(statuses).filter((status) => !['200', '503'].includes(status));
  expect(others).toEqual([]);
  return statuses;
}

/** What is waited for, and is not promised in any time. */
const LATER = { timeout: PATIENCE_MS };
/** How soon after the server's return everything works again. */
const RECOVERY_MS = 5_000;

describe('PostgreSQL restarted while requests are answered and reports come in', () => {
  test.each(['SIGQUIT', 'SIGKILL'] as const)(
    '%s: 503 in the contract’s shape meanwhile, /readyz 503, and everything works within 5 s after',
    async (signal) => {
      const { end, statuses } = load(served);
      await expect.poll(() => statuses[200] ?? 0, LATER).toBeGreaterThan(20);
      await server.kill(signal);
      await expect.poll(served.readiness, LATER).toBe(503);
      await expect.poll(() => statuses[503] ?? 0, LATER).toBeGreaterThan(3);
      expect(await served.readiness()).toBe(503);
      await server.start();
      const from = performance.now();
      const works = async () =>
        (await served.readiness()) === 200 && (await served.ask(served.list)).status === 200;
      await expect.poll(works, { timeout: RECOVERY_MS, interval: 50 }).toBe(true);
      const tookMs = Math.round(performance.now() - from);
      // From then on nothing fails any more.
      const failures = statuses[503];
      const answered = statuses[200] ?? 0;
      await expect.poll(() => statuses[200] ?? 0, LATER).toBeGreaterThan(answered + 20);
      process.stdout.write(
        `${signal}: works ${tookMs} ms after the start; ${JSON.stringify(statuses)}\n`,
      );
      expect((statuses[503] ?? 0) - (failures ?? 0)).toBeLessThanOrEqual(4);
      await holdStored(end);
    },
  );

  test('connections that are cut in 20 rounds are replaced', async () => {
    const { end, statuses } = load(served);
    for (let round = 0; round < 20; round++) {
      await sleep(50 + Math.random() * 100);
      await runOn(
        server.toUrl('template1'),
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = 'postgres'",
      );
    }
    const answered = statuses[200] ?? 0;
    await expect.poll(() => statuses[200] ?? 0, LATER).toBeGreaterThan(answered + 20);
    expect(await served.readiness()).toBe(200);
    const met = await holdStored(end);
    process.stdout.write(`connections cut in 20 rounds: ${JSON.stringify(met)}\n`);
  });
});
