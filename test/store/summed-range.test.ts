import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareKeys, toAddress, toAddressKey } from '../../src/domain/sources/address-key.ts';
import { readSources, type SourceQuery } from '../../src/store/sources/list.ts';
import { readSummedMail } from '../../src/store/sources/mail.ts';
import { updateMark } from '../../src/store/sources/marks.ts';
import { createKeptSums } from '../../src/store/sources/summed-range.ts';
import { aBareAccount, aDomain, aRecord, aReportOf, NOW, receive } from '../support/builders.ts';
import { openTestStore } from '../support/store.ts';

const RANGE = { from: '2026-03-01', to: '2026-03-31' };

async function aDomainOfAccount() {
  const store = await openTestStore();
  const accountId = await aBareAccount(store.db);
  const { id: domainId, name } = await aDomain(store.db, accountId);
  const scope = { accountId, domainId };
  const send = (address: string, count: number, spf: 'pass' | 'fail' = 'pass') =>
    receive(store.db, [
      aReportOf([aRecord({ sourceIp: address, count, spf })], {
        domain: name,
        begin: '2026-03-10T00:00:00Z',
      }),
    ]);
  const mark = (address: string, as: 'legitimate' | 'unknown' | null) =>
    updateMark(
      store.db,
      { domainId, address, mark: as },
      { name: 'you@example.com', accountId, address: '192.0.2.8', at: NOW },
    );
  return { store, scope, send, mark };
}

const ADDRESSES = ['192.0.2.1', '192.0.2.10', '192.0.2.2', '198.51.100.7', '2001:db8::1'];
const address = fc.constantFrom(...ADDRESSES);
const query = fc.record({
  failingOnly: fc.boolean(),
  mark: fc.constantFrom('legitimate', 'unknown', 'unmarked', undefined),
  order: fc.constantFrom('failed', 'messages', undefined),
  limit: fc.integer({ min: 1, max: 4 }),
  offset: fc.nat(5),
} as const);
const step = fc.oneof(
  fc.record({
    kind: fc.constant('send' as const),
    address,
    count: fc.integer({ min: 1, max: 3 }),
    spf: fc.constantFrom('pass', 'fail'),
  }),
  fc.record({
    kind: fc.constant('mark' as const),
    address,
    as: fc.constantFrom('legitimate', 'unknown', null),
  }),
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('read' as const), query }) },
);

describe('sums that are kept', () => {
  test('give the lists that the rows give, after any changes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
        const { store, scope, send, mark } = await aDomainOfAccount();
        const kept = createKeptSums();
        const read = async (query: Omit<SourceQuery, 'range'>, sums?: typeof kept) => {
          const wanted = { ...query, range: RANGE } as SourceQuery;
          const { sumPatterns, ...found } = await readSources(store.reader, scope, wanted, sums);
          return { ...found, damaged: [], patterns: await sumPatterns() };
        };
        for (const one of steps)
          if (one.kind === 'send') await send(one.address, one.count, one.spf as 'pass');
          else if (one.kind === 'mark') await mark(one.address, one.as as 'unknown');
          else
            expect(await read(one.query as SourceQuery, kept)).toEqual(
              await read(one.query as SourceQuery),
            );
        await store.close();
      }),
      { numRuns: Number(process.env['RUNS'] ?? 12) },
    );
  });

  test('are read from the rows once while no report comes', async () => {
    const { store, scope, send } = await aDomainOfAccount();
    const kept = createKeptSums();
    await send('192.0.2.1', 3);
    let plans = 0;
    const reader: typeof store.reader = {
      ...store.reader,
      readPlan: (plan) => {
        plans += 1;
        return store.reader.readPlan(plan);
      },
    };
    const read = () => readSummedMail(reader, scope, RANGE, kept);
    const [first, second] = [await read(), await read()];
    expect([plans, await second.findResults()]).toEqual([1, await first.findResults()]);
    await send('192.0.2.1', 4);
    expect((await read()).sources[0]?.messages).toBe(7);
    expect(plans).toBe(2);
    await store.close();
  });

  test('are none of a range with damaged days, which are repaired', async () => {
    const { store, scope, send } = await aDomainOfAccount();
    const kept = createKeptSums();
    await send('192.0.2.1', 3);
    await store.db.write((tx) =>
      tx
        .updateTable('domain_day')
        .set({ sources: Buffer.from('junk') })
        .execute(),
    );
    const wanted = { range: RANGE, failingOnly: false, limit: 1, offset: 0 };
    const { total, damaged } = await readSources(store.reader, scope, wanted, kept);
    expect([total, damaged, kept.size]).toEqual([0, ['2026-03-10'], 0]);
    await store.close();
  });

  test('are shown to no other account', async () => {
    const { store, scope, send } = await aDomainOfAccount();
    const kept = createKeptSums();
    await send('192.0.2.1', 3);
    const wanted = { range: RANGE, failingOnly: false, limit: 1, offset: 0 };
    await readSources(store.reader, scope, wanted, kept);
    const other = { ...scope, accountId: await aBareAccount(store.db) };
    await expect(readSources(store.reader, other, wanted, kept)).rejects.toMatchObject({
      code: 'not_found',
    });
    await store.close();
  });

  test('are bounded by their memory', () => {
    const kept = createKeptSums();
    const sum = {
      key: 1,
      messages: 1,
      aligned: 1,
      dkimAligned: 1,
      spfAligned: 1,
      firstDay: '2026-03-01',
      lastDay: '2026-03-01',
    };
    const summed = (sums: number) => ({
      version: '1',
      days: [],
      sums: Array(sums).fill(sum),
      computed: new Map(),
    });
    kept.set('large', summed(110_000));
    expect(kept.get('large')).toBeUndefined();
    for (const name of ['a', 'b', 'c']) kept.set(name, summed(50_000));
    expect([...kept.keys()].sort()).toEqual(['b', 'c']);
  });
});

test('keys are in the order of their addresses’ texts', () => {
  const ip = fc.oneof(
    fc.ipV4(),
    fc.constantFrom(...ADDRESSES, '1.1.1.1', '1.1.1.10', '10.1.1.1', '1.10.1.1'),
  );
  fc.assert(
    fc.property(ip, ip, (a, b) => {
      const [x, y] = [toAddressKey(a), toAddressKey(b)];
      const wanted = toAddress(x) < toAddress(y) ? -1 : toAddress(x) > toAddress(y) ? 1 : 0;
      expect(Math.sign(compareKeys(x, y))).toBe(wanted);
    }),
    { numRuns: 2_000 },
  );
});
