import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createDaysReads } from '../../src/judging/reads.ts';
import type { ScopedQuery } from '../../src/judging/summed-range.ts';
import type { AsideReads } from '../../src/store/engine/aside.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { aBareAccount, aDomain, aRecord, aReportOf, receive } from '../support/builders.ts';
import { aDatabase } from '../support/store.ts';
import * as reads from './aside-reads.ts';

const MODULE = new URL('./aside-reads.ts', import.meta.url).href;

async function aStoreWithThread() {
  const store = await openStore(await aDatabase(), { hasThread: true });
  onTestFinished(() => store.close());
  return store;
}

const RANGE = { from: '2026-03-01', to: '2026-03-31' };

describe('the thread of long reads', () => {
  test('reads the database beside this thread, and what it has counted is stored', async () => {
    const store = await aStoreWithThread();
    const accountId = await aBareAccount(store.db);
    const { id: domainId, name } = await aDomain(store.db, accountId);
    const records = [aRecord({ sourceIp: '192.0.2.1', count: 5 })];
    await receive(store.db, [aReportOf(records, { domain: name, begin: '2026-03-10T00:00:00Z' })]);
    const scope = { accountId, domainId };
    const days = createDaysReads(store, {
      now: () => new Date('2026-03-15'),
      logError: (error) => expect.fail(String(error)),
    });
    const asked = { scope, range: RANGE, limit: 5, offset: 0 };
    const found = await days.readSources(asked);
    expect(found.sources).toMatchObject([{ address: '192.0.2.1', messages: 5 }]);
    const isKept = async () => {
      const row = store.db.selectFrom('domain_day').select('sources');
      return (await row.executeTakeFirstOrThrow()).sources !== null;
    };
    await expect.poll(isKept).toBe(true);
    await expect(
      days.readSources({ ...asked, scope: { ...scope, accountId: domainId } }),
    ).rejects.toMatchObject({ name: 'Failure', code: 'not_found' });
  });

  test('had all reads of an account at once, before those of others: it has one at a time', async () => {
    const store = await aStoreWithThread();
    const running = new Map<string, number>();
    const most = new Map<string, number>();
    const run: AsideReads['run'] = async (module, read, query) => {
      const { accountId } = (query as ScopedQuery).scope;
      const count = (running.get(accountId) ?? 0) + 1;
      running.set(accountId, count);
      most.set(accountId, Math.max(count, most.get(accountId) ?? 0));
      const found = store.aside.run(module, read, query);
      return await found.finally(() => running.set(accountId, (running.get(accountId) ?? 0) - 1));
    };
    const noted = { ...store, aside: { ...store.aside, run } };
    const days = createDaysReads(noted, { now: () => new Date('2026-03-15'), logError: () => {} });
    const ended: string[] = [];
    const askAs = async (name: string, count: number) => {
      const accountId = await aBareAccount(store.db);
      const { id: domainId } = await aDomain(store.db, accountId, { name: `${name}.example` });
      const asked = { scope: { accountId, domainId }, range: RANGE, limit: 5, offset: 0 };
      return () =>
        Array.from({ length: count }, () => days.readSources(asked).then(() => ended.push(name)));
    };
    const [many, one] = [await askAs('many', 30), await askAs('one', 1)];
    await Promise.all([...many(), ...one()]);
    expect([...most.values()]).toEqual([1, 1]);
    expect(ended.indexOf('one')).toBeLessThan(5);
  });

  test('days that were counted waited in memory for a slow disk: the next read waits until they are stored', async () => {
    const store = await aStoreWithThread();
    const accountId = await aBareAccount(store.db);
    const asked = [];
    for (const name of ['a.example', 'b.example', 'c.example', 'd.example']) {
      const { id: domainId } = await aDomain(store.db, accountId, { name });
      const records = [aRecord({ sourceIp: '192.0.2.1', count: 5 })];
      await receive(store.db, [
        aReportOf(records, { domain: name, begin: '2026-03-10T00:00:00Z' }),
      ]);
      asked.push({ scope: { accountId, domainId }, range: RANGE, limit: 5, offset: 0 });
    }
    const writes = { all: 0, now: 0, most: 0 };
    const write: typeof store.db.write = async (change) => {
      writes.all += 1;
      writes.now += 1;
      writes.most = Math.max(writes.most, writes.now);
      await sleep(100);
      return await store.db.write(change).finally(() => (writes.now -= 1));
    };
    const slow = { ...store, db: { ...store.db, write } };
    const logError = (error: unknown) => expect.fail(String(error));
    const days = createDaysReads(slow, { now: () => new Date('2026-03-15'), logError });
    await Promise.all(asked.map((query) => days.readSources(query)));
    await expect.poll(() => [writes.all, writes.now]).toEqual([4, 0]);
    expect(writes.most).toBe(1);
  });

  test('gives the items of a generator as they are asked for', async () => {
    const { aside } = await aStoreWithThread();
    const items: number[] = [];
    for await (const item of aside.iterate(MODULE, reads.countUp, 3)) items.push(item);
    expect(items).toEqual([0, 1, 2]);
    for await (const item of aside.iterate(MODULE, reads.countUp, 3)) {
      items.push(item);
      break;
    }
    expect(items).toEqual([0, 1, 2, 0]);
    await expect.poll(() => aside.run(MODULE, reads.findEnded, 3)).toBe(2);
  });

  test('is started again when it has ended', async () => {
    const { aside } = await aStoreWithThread();
    await expect(aside.run(MODULE, reads.endThread, null)).rejects.toThrow('has ended');
    expect(await aside.run(MODULE, reads.findEnded, 1)).toBe(0);
  });

  test('passes errors on with their codes', async () => {
    const { aside } = await aStoreWithThread();
    const failed = aside.run(MODULE, reads.fail, 'EXAMPLE');
    await expect(failed).rejects.toMatchObject({ message: 'It failed.', code: 'EXAMPLE' });
  });

  test('refuses more reads than can wait', async () => {
    const { aside } = await aStoreWithThread();
    const all = Array.from({ length: 300 }, () => aside.run(MODULE, reads.findEnded, 1));
    const settled = await Promise.allSettled(all);
    const refused = settled.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(100);
    expect(refused[0]).toMatchObject({ reason: { code: 'unavailable' } });
  });
});
