import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { findFacts } from '../../src/alerts/alert-facts.ts';
import { evaluate } from '../../src/alerts/evaluate.ts';
import { DEFAULT_THRESHOLDS } from '../../src/domain/alerts/thresholds.ts';
import { addDays } from '../../src/domain/instant.ts';
import { addSource, keepLargest, type SourceSums } from '../../src/domain/sources/day-sources.ts';
import { packSources } from '../../src/domain/sources/stored-sources.ts';
import type { Plan, Reader } from '../../src/store/engine/reader.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { aStore } from '../support/store.ts';
import { aWorld, type Sent } from './world.ts';

const TODAY = '2026-03-20';
const NOW = `${TODAY}T12:00:00Z`;
const MAX = Number.MAX_SAFE_INTEGER;

/** Writes days and sources with the values that they have after many reports. */
async function fill(
  { db }: Store,
  domainId: string,
  days: ReadonlyMap<string, readonly Sent[]>,
): Promise<void> {
  const sum = (sent: readonly Sent[], i: 1 | 2) =>
    Math.min(
      MAX,
      sent.reduce((total, source) => total + source[i], 0),
    );
  const counts = [...days].map(([day, sent]) => ({
    ...{
      domain_id: domainId,
      day,
      belief: 'established' as const,
      reports: 1,
      sources: pack(sent),
    },
    ...{ messages: sum(sent, 1), aligned: sum(sent, 2) },
  }));
  await db.write(async (tx) => {
    for (const rows of chunks(counts)) await tx.insertInto('domain_day').values(rows).execute();
  });
}

function pack(sent: readonly Sent[]): Uint8Array {
  const sources: SourceSums = new Map();
  const unknown = { dkimAligned: 0, spfAligned: 0, patterns: [], reporters: [] };
  for (const [address, messages, aligned] of sent)
    addSource(sources, { address, messages, aligned, ...unknown });
  return packSources(keepLargest(sources));
}

/** Statements of a size that every engine takes. */
function chunks<Row>(rows: readonly Row[]): Row[][] {
  const count = Math.ceil(rows.length / CHUNK);
  return Array.from({ length: count }, (_, i) => rows.slice(i * CHUNK, (i + 1) * CHUNK));
}
const CHUNK = 1_000;

const flood = (count: number): Sent[] =>
  Array.from({ length: count }, (_, i) => [`2001:db8::${i.toString(16)}`, 30, 0]);

/** The same reader, which counts the rows that it returns. */
function counting(reader: Reader): { reader: Reader; rows: () => number } {
  let rows = 0;
  function* counted<Result>(plan: Plan<Result>): Plan<Result> {
    let step = plan.next([]);
    while (!step.done) {
      const results = yield step.value;
      for (const result of results) rows += result.length;
      step = plan.next(results);
    }
    return step.value;
  }
  const readAll: Reader['readAll'] = async (query) => {
    const result = await reader.readAll(query);
    rows += result.length;
    return result;
  };
  const readPlan: Reader['readPlan'] = (plan) => reader.readPlan(() => counted(plan()));
  return { reader: { ...reader, readAll, readPlan }, rows: () => rows };
}

describe('a domain with 20,000 days of data and 1,000 failing addresses on each of six days', () => {
  async function aFloodedWorld() {
    const store = await aStore();
    const world = await aWorld(store);
    const days = new Map<string, Sent[]>();
    for (let ago = 20_000; ago > 6; ago -= 1) days.set(addDays(TODAY, -ago), [['192.0.2.1', 1, 1]]);
    for (let ago = 6; ago >= 0; ago -= 1) days.set(addDays(TODAY, -ago), flood(1_000));
    await fill(store, world.id, days);
    return { store, world };
  }

  it('is evaluated from a bounded number of rows: each day of an address used to be counted separately', async () => {
    const { store, world } = await aFloodedWorld();
    const { reader, rows } = counting(store.reader);
    const asked = { domainId: world.id, now: NOW, thresholds: DEFAULT_THRESHOLDS };
    const { domain: found } = await findFacts(reader, asked);
    // 2026-03-16 and later days are fresh, and the addresses began to send before.
    expect(found?.views[0].failingSources).toHaveLength(5_000);
    expect(found?.views[0].failingSources[0]).toMatchObject({
      absentDays: 0,
      laterFailingDays: [],
    });
    // Two for each day that is read.
    expect(rows()).toBeLessThan(400);
  });
});

describe('a domain with 200 days of 1,000 addresses each whose pass rate fell', () => {
  it('is asked for who fails from a bounded number of days, and only then', async () => {
    const store = await aStore();
    const [fallen, healthy] = [await aWorld(store), await aWorld(store)];
    const days = new Map<string, Sent[]>();
    const good = flood(1_000).map(([address]): Sent => [address, 30, 30]);
    for (let ago = 200; ago > 0; ago -= 1) days.set(addDays(TODAY, -ago), good);
    days.set(TODAY, [['192.0.2.1', 900, 900]]);
    await fill(store, healthy.id, days);
    days.set(TODAY, [['192.0.2.1', 900, 180]]);
    await fill(store, fallen.id, days);
    const read = async (domainId: string) => {
      const { reader, rows } = counting(store.reader);
      const asked = { domainId, now: NOW, thresholds: DEFAULT_THRESHOLDS };
      const { domain } = await findFacts(reader, asked);
      return [domain?.views[0].cause?.sender, rows()] as const;
    };
    const [[nobody, few], [sender, rows]] = [await read(healthy.id), await read(fallen.id)];
    expect([nobody, sender]).toEqual([undefined, '192.0.2.1']);
    // Two for each of the 35 days of its senders, of which five are read in any case, and one for each of 31 that are read by then.
    expect(rows - few).toBe(2 * 35 - 5 + 31);
  });
});

describe('an evaluation of several domains', () => {
  it('continues after a domain whose facts cannot be read', async () => {
    const store = await aStore();
    const worlds = [await aWorld(store), await aWorld(store), await aWorld(store)];
    for (const world of worlds)
      await fill(store, world.id, new Map([[TODAY, [['192.0.2.1', 1, 1]]]]));
    await insertCorruptAlert(store, worlds[1]);
    const errors: unknown[] = [];
    const given = {
      ...{ store, thresholds: DEFAULT_THRESHOLDS, now: () => new Date(NOW) },
      logError: (error: unknown) => errors.push(error),
    };
    const ids = worlds.map(({ id }) => id);
    expect(await evaluate(given, ids)).toMatchObject({ domains: 2 });
    expect(String(errors)).toContain(worlds[1]?.id);
    expect(errors).toHaveLength(1);
  });

  it('throws the errors at the end when there is no log', async () => {
    const store = await aStore();
    const [broken, sound] = [await aWorld(store), await aWorld(store)];
    await insertCorruptAlert(store, broken);
    const given = { store, thresholds: DEFAULT_THRESHOLDS, now: () => new Date(NOW) };
    await expect(evaluate(given, [broken.id, sound.id])).rejects.toThrow(broken.id);
  });
});

async function insertCorruptAlert(
  { db }: Store,
  world: { id: string; accountId: string } | undefined,
): Promise<void> {
  if (world === undefined) throw new Error('There is no world.');
  const alert = { type: 'alert.reports_missing', subject: '', context: '{"day":' };
  await db.write((tx) =>
    tx
      .insertInto('alert')
      .values({
        ...{ id: randomUUID(), account_id: world.accountId, domain_id: world.id },
        ...alert,
        ...{ fired_at: NOW, resolved_at: null, number: 0, last_change: 0 },
      })
      .execute(),
  );
}

describe('sums of messages', () => {
  it('stop at 2^53 - 1 in an alert: one had message_count 9277415232383220000', async () => {
    const store = await aStore();
    const world = await aWorld(store);
    const known: Sent = ['192.0.2.1', 100, 100];
    const days = new Map<string, Sent[]>();
    for (let ago = 40; ago > 0; ago -= 1) days.set(addDays(TODAY, -ago), [known]);
    const strangers = flood(1_000).map(([address]): Sent => [address, MAX, 0]);
    days.set(TODAY, [known, ...strangers]);
    await fill(store, world.id, days);
    world.setNow(NOW);
    await world.evaluate();
    const alert = (await world.alerts()).find(({ type }) => type === 'alert.new_failing_source');
    expect(alert?.context).toMatchObject({ message_count: MAX, failed_count: MAX });
    expect(alert?.context.sources[0]).toMatchObject({ message_count: MAX, failed_count: MAX });
  });

  it('are compared exactly there', async () => {
    const store = await aStore();
    const world = await aWorld(store);
    const failed = Math.ceil(MAX * 0.9);
    const days = new Map<string, Sent[]>([
      [
        TODAY,
        [
          ['192.0.2.1', MAX, MAX - failed - 10],
          ['192.0.2.2', MAX, MAX - failed + 10],
        ],
      ],
    ]);
    await fill(store, world.id, days);
    const asked = { domainId: world.id, now: NOW, thresholds: DEFAULT_THRESHOLDS };
    const { domain: found } = await findFacts(store.reader, asked);
    const addresses = found?.views[0].failingSources.map(({ address }) => address);
    expect(addresses).toEqual(['192.0.2.1']);
  });
});
