import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createMayGoOn } from '../../src/jobs/leased-job.ts';
import { insertDomain, listWatchedDomainIds } from '../../src/store/domains/domains.ts';
import { openStore } from '../../src/store/engine/open.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { readClockMs } from '../../src/store/work/clock.ts';
import { createLeases, LEASE_MS } from '../../src/store/work/leases.ts';
import { SHARDS } from '../../src/store/work/shards.ts';
import { aBareAccount, NOW } from '../support/builders.ts';
import { moduleOf, runTogether } from '../support/processes.ts';
import { aDatabase, aStore } from '../support/store.ts';

const HOUR_MS = 3_600_000;
const START_MS = Date.parse('2026-03-01T00:00:00Z');

/** Leases of several processes on one store, by a clock that the test sets. */
function aClock() {
  let nowMs = START_MS;
  const readClock = async () => nowMs;
  return {
    pass: (ms: number) => {
      nowMs += ms;
    },
    leasesOf: (store: Store, holder: string) => createLeases({ db: store.db, holder, readClock }),
  };
}

async function twoProcesses() {
  const store = await aStore();
  const { pass, leasesOf } = aClock();
  return { store, pass, a: leasesOf(store, 'a'), b: leasesOf(store, 'b') };
}

/** Two open stores on one database. */
async function twoStores() {
  const path = await aDatabase();
  const stores = [await openStore(path), await openStore(path)] as const;
  onTestFinished(async () => {
    for (const store of stores) await store.close();
  });
  return stores;
}

type Claimed = NonNullable<Awaited<ReturnType<ReturnType<typeof createLeases>['claim']>>>;
const must = (claim: Claimed | undefined) => {
  if (claim === undefined) throw new Error('The lease was not free.');
  return claim;
};

describe('a lease', () => {
  test('is of one process at a time', async () => {
    const { a, b } = await twoProcesses();
    expect(await a.claim(['work:0'], HOUR_MS)).toEqual({
      name: 'work:0',
      claimedAt: expect.any(String),
    });
    expect(await b.claim(['work:0'], HOUR_MS)).toBeUndefined();
    expect(await a.claim(['work:0'], HOUR_MS)).toBeUndefined();
    expect(await b.claim(['work:0', 'work:1'], HOUR_MS)).toMatchObject({ name: 'work:1' });
  });

  test('is due again an hour after its last run began, whoever ran it', async () => {
    const { a, b, pass } = await twoProcesses();
    const claim = must(await a.claim(['work:0'], HOUR_MS));
    pass(30_000);
    await a.release(claim, { isComplete: true });
    pass(HOUR_MS - 31_000);
    expect(await b.claim(['work:0'], HOUR_MS)).toBeUndefined();
    pass(1_000);
    expect(await b.claim(['work:0'], HOUR_MS)).toBeDefined();
  });

  test('that is released before the work is complete is due at once', async () => {
    const { a, b } = await twoProcesses();
    await a.release(must(await a.claim(['work:0'], HOUR_MS)), { isComplete: false });
    expect(await b.claim(['work:0'], HOUR_MS)).toBeDefined();
  });

  test('that is not renewed is another’s after its time, and its former holder learns it', async () => {
    const { a, b, pass, store } = await twoProcesses();
    const claim = must(await a.claim(['work:0'], HOUR_MS));
    pass(LEASE_MS - 1_000);
    expect(await a.renew(claim)).toBe(true);
    pass(LEASE_MS - 1_000);
    expect(await b.claim(['work:0'], HOUR_MS)).toBeUndefined();
    pass(1_000);
    expect(await b.claim(['work:0'], HOUR_MS)).toBeDefined();
    expect(await a.renew(claim)).toBe(false);
    await a.release(claim, { isComplete: true });
    const [row] = await store.db.selectFrom('lease').select(['holder', 'ran_at']).execute();
    expect(row).toEqual({ holder: 'b', ran_at: null });
  });

  test('a process that was suspended does not take another step', async () => {
    const { a, b, pass } = await twoProcesses();
    const claim = must(await a.claim(['work:0'], HOUR_MS));
    const { signal } = new AbortController();
    const mayGoOn = createMayGoOn(claim, { leases: a, signal, renewMs: 0 });
    expect(await mayGoOn()).toBe(true);
    pass(LEASE_MS);
    await b.claim(['work:0'], HOUR_MS);
    expect([await mayGoOn(), await mayGoOn()]).toEqual([false, false]);
  });

  test('a database clock that was set back delays nothing by more than two leases', async () => {
    const { a, b, pass } = await twoProcesses();
    await a.release(must(await a.claim(['ran:0'], HOUR_MS)), { isComplete: true });
    await a.claim(['held:0'], HOUR_MS);
    pass(-24 * HOUR_MS);
    expect(await b.claim(['ran:0'], HOUR_MS)).toBeDefined();
    expect(await b.claim(['held:0'], HOUR_MS)).toBeDefined();
    // By so little that the lease could be a new one: it is waited for.
    pass(-LEASE_MS);
    expect(await a.claim(['held:0'], HOUR_MS)).toBeUndefined();
    pass(2 * LEASE_MS);
    expect(await a.claim(['held:0'], HOUR_MS)).toBeDefined();
  });

  test('the clock is the database’s', async () => {
    const { db } = await aStore();
    const [before, now] = [Date.now(), await readClockMs(db)];
    expect(now % 1).toBe(0);
    expect(Math.abs(now - before)).toBeLessThan(5_000);
    const inTransaction = await db.write((tx) => readClockMs(tx));
    expect(Math.abs(inTransaction - before)).toBeLessThan(5_000);
  });
});

type Leases = ReturnType<typeof createLeases>;
const EVERY_MS = 120_000;
const ACTIONS = ['nothing', 'renew', 'complete', 'give up'] as const;
type Action = (typeof ACTIONS)[number];

interface Known {
  readonly by: number;
  readonly claim: Claimed;
  until: number;
  ranAt: number;
}

/** What is to be true of leases after some steps. */
class Model {
  nowMs = START_MS;
  readonly #known = new Map<string, Known>();

  isFree(name: string): boolean {
    const { until = 0, ranAt = 0 } = this.#known.get(name) ?? {};
    return until <= this.nowMs && this.nowMs - ranAt >= EVERY_MS;
  }

  claim(name: string, claimed: Pick<Known, 'by' | 'claim'>): void {
    const { ranAt = 0 } = this.#known.get(name) ?? {};
    this.#known.set(name, { ...claimed, until: this.nowMs + LEASE_MS, ranAt });
  }

  /** Both processes try to renew or to release; only the holder changes anything. */
  async goOn(name: string, action: Action, processes: readonly Leases[]): Promise<void> {
    const known = this.#known.get(name);
    if (known === undefined || action === 'nothing') return;
    for (const [i, leases] of processes.entries()) {
      const isOwn = known.by === i && known.until > 0;
      if (action === 'renew') expect(await leases.renew(known.claim)).toBe(isOwn);
      else await leases.release(known.claim, { isComplete: action === 'complete' });
      if (isOwn) this.#note(known, action);
    }
  }

  #note(known: Known, action: Action): void {
    known.until = action === 'renew' ? this.nowMs + LEASE_MS : 0;
    if (action === 'complete') known.ranAt = Date.parse(known.claim.claimedAt);
  }
}

describe('several processes', () => {
  test('never hold one lease at the same time, in any order of claims, renewals and releases', async () => {
    const stores = await twoStores();
    let run = 0;
    const step = fc.record({
      passMs: fc.nat(60).map((seconds) => seconds * 1_000),
      name: fc.constantFrom('x', 'y'),
      action: fc.constantFrom(...ACTIONS),
    });
    const history = fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
      run += 1;
      const { pass, leasesOf } = aClock();
      const processes = stores.map((store, i) => leasesOf(store, `${i}`));
      const model = new Model();
      for (const { passMs, name: letter, action } of steps) {
        pass(passMs);
        model.nowMs += passMs;
        const name = `run ${run}:${letter}`;
        const wanted = model.isFree(name) ? 1 : 0;
        const claims = await Promise.all(processes.map((leases) => leases.claim([name], EVERY_MS)));
        const by = claims.findIndex((claim) => claim !== undefined);
        expect(claims.filter((claim) => claim !== undefined)).toHaveLength(wanted);
        if (wanted === 1) model.claim(name, { by, claim: must(claims[by]) });
        await model.goOn(name, action, processes);
      }
    });
    await fc.assert(history, { numRuns: 25 });
  });

  test('that claim sixteen leases in random order at the same moment have sixteen together', async () => {
    const path = await aDatabase();
    await (await openStore(path)).close();
    const text = `
      import { openStore } from 'src/store/engine/open.ts';
      import { createLeases } from 'src/store/work/leases.ts';
      const [, path, holder] = process.argv;
      const store = await openStore(path);
      const leases = createLeases({ db: store.db, holder });
      const names = Array.from({ length: 16 }, (_, i) => 'work:' + i).sort(() => Math.random() - 0.5);
      const had = [];
      for (const name of names) if (await leases.claim([name], 3600000)) had.push(name);
      await store.close();
      console.log(JSON.stringify(had));`;
    const had = (await runTogether(3, path, text)).flatMap((line) => JSON.parse(line) as string[]);
    expect(had).toHaveLength(16);
    expect(new Set(had).size).toBe(16);
  });

  test('take over from one that was killed when its lease ends', async () => {
    const path = await aDatabase();
    const store = await openStore(path);
    onTestFinished(() => store.close());
    const holder = await startHolder(path);
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    const later = (ms: number) =>
      createLeases({
        db: store.db,
        holder: 'b',
        readClock: async (db) => (await readClockMs(db)) + ms,
      });
    expect(await later(0).claim(['work:0'], HOUR_MS)).toBeUndefined();
    expect(await later(LEASE_MS + 1_000).claim(['work:0'], HOUR_MS)).toBeDefined();
  });
});

/** A process that has claimed `work:0` and does not end. */
async function startHolder(path: string): Promise<ChildProcess> {
  const text = `
    import { openStore } from 'src/store/engine/open.ts';
    import { createLeases } from 'src/store/work/leases.ts';
    const store = await openStore(process.argv[1]);
    await createLeases({ db: store.db, holder: 'a' }).claim(['work:0'], 3600000);
    console.log('claimed');
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, [...moduleOf(text), path]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const claimed = once(child.stdout, 'data').then(String);
  const ended = once(child, 'exit').then(([status]) => `ended with ${status}`);
  expect(await Promise.race([claimed, ended])).toBe('claimed\n');
  return child;
}

test('every domain is in exactly one shard', async () => {
  const { db } = await aStore();
  const accountId = await aBareAccount(db);
  const ids = [
    ...[...'0123456789abcdef'].map((digit) => `${digit}0000000-0000-4000-8000-000000000000`),
    ...[...'09af'].map((digit) => `${digit}fffffff-ffff-4fff-bfff-ffffffffffff`),
  ];
  for (const [i, id] of ids.entries())
    await insertDomain(db, { accountId, id, name: `d${i}.example`, now: NOW });
  const found = [];
  for (const shard of SHARDS) {
    const inShard = await listWatchedDomainIds(db, shard);
    expect(inShard.length).toBeGreaterThan(0);
    found.push(...inShard);
  }
  expect(found.sort()).toEqual([...ids].sort());
});
