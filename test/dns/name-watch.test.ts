import { describe, expect, onTestFinished, test } from 'vitest';
import { nameShard } from '../../src/dns/name-watch.ts';
import type { LookUpName } from '../../src/dns/reverse-lookup.ts';
import { readAllNames } from '../../src/store/days/names.ts';
import { updateDomainStatus } from '../../src/store/domains/domains.ts';
import {
  aBareAccount,
  aDomain,
  aRecord,
  aReportOf,
  receive,
  recordsOf,
} from '../support/builders.ts';
import { allShardRuns } from '../support/shard-runs.ts';
import { openTestStore } from '../support/store.ts';

const HOUR_MS = 3_600_000;

/** A domain with sources, whose names are looked up in rounds, and a clock. */
async function aNamedWorld(answers: Record<string, string | null | undefined> = {}) {
  const store = await openTestStore();
  onTestFinished(() => store.close());
  const { id } = await aDomain(store.db, await aBareAccount(store.db), { name: 'example.com' });
  const asked: string[] = [];
  const logged: unknown[] = [];
  let nowMs = Date.parse('2026-03-15T12:00:00Z');
  const lookUpName: LookUpName = async (address) => {
    asked.push(address);
    return answers[address];
  };
  const sent = async (begin: string, sources: readonly (readonly [string, number, number])[]) => {
    await receive(store.db, [
      aReportOf(
        sources.flatMap((one) => recordsOf(...one)),
        { begin },
      ),
    ]);
  };
  const round = async ({ steps, random }: { steps?: number; random?: number } = {}) => {
    const given = {
      store,
      lookUpName,
      ...(random === undefined ? {} : { random: () => random }),
      now: () => new Date(nowMs),
      logError: (e: unknown) => void logged.push(e),
    };
    const runs = allShardRuns(steps === undefined ? {} : { steps });
    const complete = await Promise.all(runs.map((run) => nameShard(given, run)));
    return complete.every(Boolean);
  };
  const names = async (...addresses: string[]) => {
    const all = [...(await readAllNames(store.reader, id))];
    return Object.fromEntries(all.filter(([address]) => addresses.includes(address)));
  };
  const pass = (hours: number) => {
    nowMs += hours * HOUR_MS;
  };
  return { store, id, answers, asked, logged, sent, round, names, pass };
}

describe('looking up the names of sources', () => {
  test('keeps a name for a week, that there is none for a day, and no answer for six hours', async () => {
    const answers = { '192.0.2.1': 'mail.example.com', '192.0.2.2': null, '192.0.2.3': undefined };
    const { sent, round, names, asked, pass } = await aNamedWorld(answers);
    await sent('2026-03-14T00:00:00Z', [
      ['192.0.2.1', 5, 5],
      ['192.0.2.2', 9, 0],
      ['192.0.2.3', 7, 0],
    ]);
    expect(await round()).toBe(true);
    // Those with most failed messages come first.
    expect(asked.splice(0)).toEqual(['192.0.2.2', '192.0.2.3', '192.0.2.1']);
    expect(await names(...Object.keys(answers))).toEqual({ '192.0.2.1': 'mail.example.com' });
    for (const [hours, wanted] of [
      [5, []],
      [2, ['192.0.2.3']],
      [18, ['192.0.2.2', '192.0.2.3']],
      [144, ['192.0.2.2', '192.0.2.3', '192.0.2.1']],
    ] as const) {
      pass(hours);
      await round();
      expect(asked.splice(0), `${hours} hours later`).toEqual(wanted);
    }
  });

  test('replaces a name, and forgets names of addresses that send no more', async () => {
    const answers: Record<string, string | null> = {
      '192.0.2.1': 'old.example.com',
      '192.0.2.2': 'b.example',
    };
    const { sent, round, names, pass, store } = await aNamedWorld(answers);
    await sent('2026-01-01T00:00:00Z', [['192.0.2.2', 1, 1]]);
    await round();
    await sent('2026-03-14T00:00:00Z', [['192.0.2.1', 1, 1]]);
    await round();
    answers['192.0.2.1'] = 'new.example.com';
    pass(7 * 24 + 1);
    await round();
    expect(await names('192.0.2.1', '192.0.2.2')).toEqual({
      '192.0.2.1': 'new.example.com',
      '192.0.2.2': 'b.example',
    });
    pass(7 * 24 + 1);
    await round();
    expect(await store.db.selectFrom('source_name').select('address').execute()).toEqual([
      { address: '192.0.2.1' },
    ]);
  });

  test('keeps the former name while no server answers, and forgets it when there is none', async () => {
    const answers: Record<string, string | null | undefined> = { '192.0.2.1': 'mail.example.com' };
    const { sent, round, names, asked, pass } = await aNamedWorld(answers);
    await sent('2026-03-14T00:00:00Z', [['192.0.2.1', 1, 1]]);
    await round();
    for (const [hours, answer, wanted] of [
      [169, undefined, answers],
      [7, undefined, answers],
      [7, null, {}],
      [25, undefined, {}],
    ] as const) {
      const before = { ...wanted };
      pass(hours);
      answers['192.0.2.1'] = answer;
      asked.length = 0;
      await round();
      expect(asked).toEqual(['192.0.2.1']);
      expect(await names('192.0.2.1')).toEqual(before);
      if (answer === undefined) answers['192.0.2.1'] = 'mail.example.com';
    }
  });

  test('begins a round with any domain of a shard, so that none waits for ever', async () => {
    const { store, id, round, asked, pass } = await aNamedWorld();
    const accountId = await aBareAccount(store.db);
    // A domain without sources takes part in the runs as well, so it may not be the third of a shard.
    const addresses = new Map([[id, 'none']]);
    const withTwo = () => {
      const shards = Map.groupBy(addresses.keys(), (id) => id.slice(0, 1));
      const pairs = [...shards.values()].filter(({ length }) => length === 2);
      return pairs.find((ids) => !ids.includes(id))?.toSorted();
    };
    for (let i = 1; withTwo() === undefined; i += 1) {
      const { id, name } = await aDomain(store.db, accountId);
      const records = [aRecord({ sourceIp: `192.0.2.${i}` })];
      await receive(store.db, [aReportOf(records, { domain: name })]);
      addresses.set(id, `192.0.2.${i}`);
    }
    const two = withTwo()?.map((id) => addresses.get(id));
    for (const [random, wanted] of [
      [0, two],
      [0.49, two],
      [0.5, two?.toReversed()],
      [0.99, two?.toReversed()],
    ] as const) {
      await round({ random });
      expect(asked.splice(0).filter((address) => two?.includes(address))).toEqual(wanted);
      pass(7);
    }
  });

  test('is bounded in a round: the rest is looked up in the next', async () => {
    const { sent, round, asked } = await aNamedWorld();
    const many = Array.from({ length: 120 }, (_, i) => [`198.51.100.${i}`, 1, 1] as const);
    await sent('2026-03-14T00:00:00Z', many);
    const counts: number[] = [];
    for (let i = 0; i < 4; i += 1) {
      await round();
      counts.push(asked.splice(0).length);
    }
    expect(counts).toEqual([50, 50, 20, 0]);
  });

  test('leaves out domains that are paused, what is old, and ends with its run', async () => {
    const { sent, round, asked, store, id } = await aNamedWorld();
    await sent('2026-02-01T00:00:00Z', [['192.0.2.1', 1, 1]]);
    await sent('2026-03-14T00:00:00Z', [['192.0.2.2', 1, 1]]);
    await updateDomainStatus(store.db, id, 'paused');
    await round();
    expect(asked).toEqual([]);
    await updateDomainStatus(store.db, id, 'active');
    expect(await round({ steps: 0 })).toBe(false);
    expect(asked).toEqual([]);
    await round();
    expect(asked).toEqual(['192.0.2.2']);
  });

  test('goes on after an error with one domain, which is logged', async () => {
    const { sent, round, store, logged, asked } = await aNamedWorld();
    await aDomain(store.db, await aBareAccount(store.db), { name: 'other.example' });
    const fails = [aRecord({ sourceIp: '192.0.2.9' })];
    await receive(store.db, [aReportOf(fails, { domain: 'other.example' })]);
    await sent('2026-03-14T00:00:00Z', [['192.0.2.1', 1, 1]]);
    const push = asked.push.bind(asked);
    asked.push = (...all) => {
      if (all[0] === '192.0.2.9') throw new Error('a defect');
      return push(...all);
    };
    expect(await round()).toBe(true);
    expect([asked.slice(), logged]).toEqual([['192.0.2.1'], [new Error('a defect')]]);
  });
});
