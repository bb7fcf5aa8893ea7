import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aDomain, aReport, receive } from '../support/builders.ts';
import { startPostgres, type TestServer } from '../support/postgres.ts';
import { runOn } from '../support/postgres-stores.ts';
import { serveOn } from './served.ts';
import { aStandby } from './standby.ts';

const LAG_S = 5;

let primary: TestServer;
let replica: TestServer;
let served: Awaited<ReturnType<typeof serveOn>>;
const warned: Error[] = [];

beforeAll(async () => {
  primary = await startPostgres({ settings: { wal_level: 'replica', max_wal_senders: '4' } });
  replica = await aStandby(primary, LAG_S);
  const warn = (error: Error) => void warned.push(error);
  served = await serveOn(primary.toUrl('postgres'), { replica: replica.toUrl('postgres'), warn });
});
afterAll(async () => {
  await served.stop();
  await replica.stop();
  await primary.stop();
});

/** How many transactions a server has ended in the database, as its statistics have it. */
async function countReads(server: TestServer): Promise<number> {
  const [row] = await runOn(
    server.toUrl('template1'),
    "select xact_commit::int as reads from pg_stat_database where datname = 'postgres'",
  );
  return row?.['reads'] as number;
}

/** The page and the total of the list as a client reads it. */
async function readList(): Promise<{ total: number; items: number }> {
  const { status, body } = await served.ask(served.list);
  expect(status).toBe(200);
  return { total: body.total, items: body.data.length };
}

/** Waits until the replica has applied what the primary has. */
async function catchUp(): Promise<void> {
  const count = 'select count(*)::int as count from report';
  const [wanted] = await runOn(primary.toUrl('postgres'), count);
  await expect.poll(() => runOn(replica.toUrl('postgres'), count)).toEqual([wanted]);
}

/** Reads the page this many times, and returns how many transactions the replica has had for that. */
async function readsOfReplica(times: number): Promise<number> {
  await flushStatistics();
  const before = await countReads(replica);
  for (let i = 0; i < times; i++) await readList();
  await flushStatistics();
  return (await countReads(replica)) - before;
}

/** A connection reports its transactions at most once a second, with its next one. */
async function flushStatistics(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  for (let i = 0; i < 20; i++) await readList();
  await new Promise((resolve) => setTimeout(resolve, 200));
}

describe('a replica that applies each change five seconds later', () => {
  test('never gives a page that is older than its head', async () => {
    await catchUp();
    let total = 1;
    const until = performance.now() + (LAG_S + 3) * 1_000;
    let pages = 0;
    while (performance.now() < until) {
      await receive(served.store.db, [aReport({ domain: served.domain.name })]);
      total += 1;
      for (let i = 0; i < 5; i++, pages++)
        expect(await readList()).toEqual({ total, items: Math.min(total, 50) });
    }
    process.stdout.write(
      `${pages} pages of a list that grew to ${total}, beside a replica 5 s behind\n`,
    );
    expect(total).toBeGreaterThan(10);
  });

  test('gives the pages once it has caught up', async () => {
    await catchUp();
    const reads = await readsOfReplica(200);
    process.stdout.write(`200 pages: ${reads} transactions of the replica\n`);
    expect(reads).toBeGreaterThanOrEqual(200);
  });

  test('a list that the replica does not have yet is read from the primary', async () => {
    const { id } = await aDomain(served.store.db, served.accountId);
    const { status, body } = await served.ask(`/v1/external/domains/${id}/reports`);
    expect([status, body.total]).toEqual([200, 0]);
  });

  test('killed: pages are still answered, by the primary, and the log says so', async () => {
    await catchUp();
    warned.length = 0;
    await replica.kill('SIGKILL');
    const { total } = await readList();
    for (let i = 0; i < 100; i++) expect((await readList()).total).toBe(total);
    expect(await served.readiness()).toBe(200);
    expect(warned.length).toBeGreaterThan(0);
    // It is left alone for a while, so that not each page tries it.
    expect(warned.length).toBeLessThan(50);
  });

  test('back: it gives the pages again', async () => {
    await replica.start();
    await catchUp();
    await expect.poll(() => readsOfReplica(50)).toBeGreaterThanOrEqual(50);
  });
});
