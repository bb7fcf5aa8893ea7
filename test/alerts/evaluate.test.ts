import { describe, expect, onTestFinished, test } from 'vitest';
import { evaluate } from '../../src/alerts/evaluate.ts';
import { addDays } from '../../src/domain/instant.ts';
import { updateDomainStatus } from '../../src/store/domains/domains.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { UNKNOWN_ID } from '../support/builders.ts';
import { listSources } from '../support/day-sources.ts';
import { openTestStore } from '../support/store.ts';
import { aWorld, reportOf, type Sent } from './world.ts';

async function aStore(): Promise<Store> {
  const store = await openTestStore();
  onTestFinished(() => store.close());
  return store;
}

const GOOD: Sent[] = [['192.0.2.1', 1000, 990]];
const BAD: Sent[] = [
  ['192.0.2.1', 500, 490],
  ['192.0.2.1', 500, 10],
];
const DAY = '2026-03-01';
const day = (n: number) => addDays(DAY, n);

/** A domain with ten good days, up to the tenth of the month. */
async function aGoodWorld(store?: Store) {
  const world = await aWorld(store ?? (await aStore()));
  for (let n = 1; n <= 10; n++) await world.day(day(n), GOOD);
  expect(await world.alerts()).toEqual([]);
  return world;
}

describe('evaluate', () => {
  test('fires once and resolves once; the figures follow the reports of the day', async () => {
    const world = await aGoodWorld();
    expect(await world.day(day(11), BAD)).toEqual({ domains: 1, fired: 1, resolved: 0 });
    expect(await world.evaluate()).toEqual({ domains: 1, fired: 0, resolved: 0 });
    const [fired] = await world.alerts();
    expect(fired).toMatchObject({
      type: 'alert.alignment_regression',
      fired_at: '2026-03-13T06:00:00Z',
      resolved_at: null,
      context: { drop_pct: 49, prev_pass_rate: 99, curr_pass_rate: 50, day: day(11) },
    });
    expect(await world.day(day(11), [['192.0.2.1', 1000, 0]])).toMatchObject({ fired: 0 });
    expect((await world.alerts())[0]?.context.curr_pass_rate).toBe(25);
    expect(await world.day(day(12), GOOD)).toMatchObject({ fired: 0, resolved: 1 });
    const resolved = await world.alerts();
    expect(resolved.map(({ resolved_at }) => resolved_at)).toEqual(['2026-03-14T06:00:00Z']);
    await world.evaluate();
    expect(await world.alerts()).toEqual(resolved);
  });

  test('a backfill of old days fires nothing, whatever their pass rates', async () => {
    const world = await aWorld(await aStore());
    const reports = Array.from({ length: 60 }, (_, n) =>
      reportOf(world.name, day(n), n % 20 > 9 ? BAD : GOOD),
    );
    await world.receive(reports, `${day(66)}T00:00:00Z`);
    expect(await world.evaluate()).toEqual({ domains: 1, fired: 0, resolved: 0 });
  });

  test('a report of a day in the far future moves no window', async () => {
    const world = await aGoodWorld();
    await world.receive([reportOf(world.name, '2099-01-01', BAD)], `${day(11)}T12:00:00Z`);
    expect(await world.day(day(11), BAD)).toMatchObject({ fired: 1 });
  });

  test('reports_missing fires without new data, and the next report resolves it', async () => {
    const world = await aGoodWorld();
    world.setNow(`${day(14)}T05:59:59Z`);
    expect(await world.evaluate()).toMatchObject({ fired: 0 });
    world.setNow(`${day(14)}T06:00:00Z`);
    expect(await world.evaluate()).toMatchObject({ fired: 1 });
    expect(await world.alerts()).toMatchObject([
      {
        type: 'alert.reports_missing',
        context: {
          last_report_at: '2026-03-12T06:00:00Z',
          hours_since_last_report: 72,
          previous_daily_average: 0.71,
        },
      },
    ]);
    expect(await world.day(day(14), GOOD)).toMatchObject({ fired: 0, resolved: 1 });
  });

  test.each<[string, boolean, Sent]>([
    ['20 messages of which 18 fail', true, ['203.0.113.1', 20, 2]],
    ['19 messages that all fail', false, ['203.0.113.1', 19, 0]],
    ['20 messages of which 17 fail', false, ['203.0.113.1', 20, 3]],
    ['200 failing ones of a known address', false, ['192.0.2.1', 200, 0]],
  ])('a source with %s: %s', async (_what, wanted, source) => {
    const world = await aGoodWorld();
    await world.day(day(11), source[0] === '192.0.2.1' ? [source] : [...GOOD, source]);
    const types = (await world.alerts()).map(({ type }) => type);
    expect(types.includes('alert.new_failing_source')).toBe(wanted);
  });

  test('a source that returns is new after 30 data days without it, and not before', async () => {
    for (const [between, wanted] of [
      [29, 1],
      [30, 2],
    ] as const) {
      const world = await aWorld(await aStore());
      await world.day(day(0), GOOD);
      await world.day(day(1), [...GOOD, ['203.0.113.1', 100, 0]]);
      for (let n = 1; n <= between; n++) await world.day(day(1 + n), GOOD);
      await world.day(day(2 + between), [...GOOD, ['203.0.113.1', 100, 0]]);
      expect(await world.alerts(), `${between} days`).toHaveLength(wanted);
    }
  });

  test('a new source’s alert lasts until seven data days without 20 failing messages', async () => {
    const world = await aGoodWorld();
    await world.day(day(11), [...GOOD, ['203.0.113.1', 100, 0]]);
    await world.day(day(12), GOOD);
    await world.day(day(13), [...GOOD, ['203.0.113.1', 20, 0]]);
    for (let n = 14; n <= 19; n++) await world.day(day(n), [...GOOD, ['203.0.113.1', 19, 0]]);
    expect((await world.alerts()).map(({ resolved_at }) => resolved_at)).toEqual([null]);
    await world.day(day(20), GOOD);
    expect((await world.alerts())[0]?.resolved_at).toBe(`${day(21)}T06:00:00Z`);
  });

  test('a paused domain fires nothing, and a resumed one starts again', async () => {
    const store = await aStore();
    const world = await aGoodWorld(store);
    await world.day(day(11), BAD);
    await updateDomainStatus(store.db, world.id, 'paused');
    const before = await world.alerts();
    await world.day(day(12), [['203.0.113.1', 5000, 0]]);
    expect(await world.alerts()).toEqual(before);
    await updateDomainStatus(store.db, world.id, 'active', `${day(15)}T00:00:00Z`);
    world.setNow(`${day(15)}T01:00:00Z`);
    expect(await world.evaluate()).toEqual({ domains: 1, fired: 0, resolved: 1 });
    await world.day(day(15), [['203.0.113.2', 5000, 0]]);
    const open = (await world.alerts()).filter(({ resolved_at }) => resolved_at === null);
    expect(open.map(({ type, subject }) => [type, subject])).toEqual([
      ['alert.alignment_regression', ''],
      ['alert.new_failing_source', day(15)],
    ]);
  });

  test('neither an unclaimed domain nor an unknown id fires anything', async () => {
    const store = await aStore();
    const world = await aWorld(store);
    const reports = Array.from({ length: 9 }, (_, n) =>
      reportOf('nobody.example', day(n), n === 8 ? BAD : GOOD),
    );
    await world.receive(reports, `${day(9)}T06:00:00Z`);
    const ids = await store.db.selectFrom('domain').select('id').execute();
    const all = [...ids.map(({ id }) => id), UNKNOWN_ID];
    expect(await evaluate(world.deps, all)).toMatchObject({ fired: 0 });
  });

  test('the configured thresholds apply', async () => {
    const world = await aGoodWorld();
    await world.receive(
      [reportOf(world.name, day(11), [['192.0.2.1', 1000, 960]])],
      `${day(12)}T06:00:00Z`,
    );
    expect(await world.evaluate()).toMatchObject({ fired: 0 });
    const thresholds = { ...world.deps.thresholds, dropPoints: 3 };
    expect(await evaluate({ ...world.deps, thresholds }, [world.id])).toMatchObject({ fired: 1 });
  });
});

describe('sources of a day', () => {
  const rows = ({ db }: Store) => listSources(db);

  test('the 1,000 largest are kept, and the totals are exact', async () => {
    const store = await aStore();
    const world = await aWorld(store);
    const many = (from: number): Sent[] =>
      Array.from({ length: 700 }, (_, i) => [`2001:db8::${(from + i).toString(16)}`, from + i, 0]);
    await world.receive([reportOf(world.name, DAY, many(1))], `${day(1)}T06:00:00Z`);
    await world.receive([reportOf(world.name, DAY, many(701))], `${day(1)}T07:00:00Z`);
    const kept = await rows(store);
    expect(kept).toHaveLength(1000);
    expect(Math.min(...kept.map(({ messages }) => messages))).toBe(401);
    const totals = await store.db.selectFrom('domain_day').select('messages').execute();
    expect(totals).toEqual([{ messages: (1400 * 1401) / 2 }]);
  });

  test('the same address in several reports is one source', async () => {
    const store = await aStore();
    const world = await aWorld(store);
    const reports = [1, 2, 3].map(() => reportOf(world.name, DAY, [['192.0.2.1', 10, 4]]));
    await world.receive(reports, `${day(1)}T06:00:00Z`);
    await world.receive(reports.slice(0, 1), `${day(1)}T06:00:00Z`);
    expect(await rows(store)).toEqual([{ address: '192.0.2.1', messages: 30, aligned: 12 }]);
  });
});
