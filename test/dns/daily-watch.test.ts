import { expect, test } from 'vitest';
import { checkTlsShard } from '../../src/dns/daily-watch.ts';
import { DAY_MS } from '../../src/domain/instant.ts';
import type { LookedTls, TlsCheck } from '../../src/domain/tls/tls-check.ts';
import { dailyCheckOf, toChecked } from '../../src/store/alerts/daily-checks.ts';
import { updateDomainStatus } from '../../src/store/domains/domains.ts';
import { aDomain, anAccount, NOW } from '../support/builders.ts';
import { allShardRuns } from '../support/shard-runs.ts';
import { openTestStore } from '../support/store.ts';

const HOUR_MS = 3_600_000;
const FOUND: TlsCheck = { record: { value: null, findings: ['missing'] }, sts: null };
const OTHER: TlsCheck = { record: { value: 'v=TLSRPTv1;', findings: ['no_rua'] }, sts: null };

async function aWatch() {
  const store = await openTestStore();
  const { id: accountId } = await anAccount(store.db);
  const domain = await aDomain(store.db, accountId, { name: 'example.com' });
  const asked: string[] = [];
  const answers: LookedTls[] = [];
  let ms = Date.parse(NOW);
  const deps = {
    ...{ store, overMs: 0, now: () => new Date(ms) },
    check: async (name: string, addresses: readonly string[]) => {
      asked.push(`${name} ${addresses}`);
      return answers.at(-1) ?? FOUND;
    },
    listAddresses: async () => ['reports@reports.example.net'] as readonly string[],
    logError: (error: unknown) => {
      throw error;
    },
  };
  /** How many domains were asked for, so long after the run before. */
  const run = async (afterMs = 0, changes: Partial<typeof deps> = {}) => {
    ms += afterMs;
    const before = asked.length;
    for (const one of allShardRuns()) await checkTlsShard({ ...deps, ...changes }, one);
    return asked.length - before;
  };
  const find = async () =>
    toChecked((await store.reader.readAll(dailyCheckOf({ domainId: domain.id, type: 'tls' })))[0]);
  return { ...store, accountId, domain, asked, answers, run, find };
}

test('a domain is checked once a day, and what is new again within the hour', async () => {
  const { asked, answers, run, find } = await aWatch();
  expect(await run()).toBe(1);
  expect(asked).toEqual(['example.com reports@reports.example.net']);
  expect(await find()).toBeUndefined();
  expect([await run(HOUR_MS / 2), await run(HOUR_MS / 2)]).toEqual([0, 1]);
  expect(await find()).toMatchObject(FOUND);
  expect([await run(HOUR_MS), await run(DAY_MS)]).toEqual([0, 1]);
  answers.push(OTHER);
  expect(await run(DAY_MS)).toBe(1);
  expect(await find()).toMatchObject(FOUND);
  expect(await run(HOUR_MS)).toBe(1);
  expect(await find()).toMatchObject(OTHER);
});

test('no answer changes nothing, and is asked for again in an hour', async () => {
  const { answers, run, find } = await aWatch();
  await run();
  await run(HOUR_MS);
  answers.push({ ...OTHER, sts: undefined });
  expect([await run(DAY_MS), await run(HOUR_MS)]).toEqual([1, 1]);
  expect(await find()).toMatchObject(FOUND);
});

test('nobody is asked without an address for reports, nor about a paused domain', async () => {
  const { db, domain, run } = await aWatch();
  expect(await run(0, { listAddresses: async () => [] })).toBe(0);
  await updateDomainStatus(db, domain.id, 'paused');
  expect(await run()).toBe(0);
});

test('one domain whose check fails keeps no other from being checked', async () => {
  const { db, accountId, run } = await aWatch();
  await aDomain(db, accountId);
  const errors: unknown[] = [];
  const listAddresses = async () => {
    throw new Error('no');
  };
  await run(0, { listAddresses, logError: (error) => errors.push(error) as never });
  expect(errors).toHaveLength(2);
});
