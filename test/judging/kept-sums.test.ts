import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readSources, type SourceQuery } from '../../src/judging/source-list.ts';
import { sumRange } from '../../src/judging/summed-range.ts';
import { updateMark } from '../../src/store/days/marks.ts';
import { aBareAccount, aDomain, aRecord, aReportOf, NOW, receive } from '../support/builders.ts';
import { caseCount } from '../support/counts.ts';
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
  const mark = (subject: string, as: 'legitimate' | 'unknown' | null) =>
    updateMark(
      store.db,
      { domainId, subject, mark: as },
      { name: 'you@example.com', accountId, address: '192.0.2.8', at: NOW },
    );
  return { store, scope, send, mark };
}

const ADDRESSES = ['192.0.2.1', '192.0.2.10', '192.0.2.2', '198.51.100.7', '2001:db8::1'];
const address = fc.constantFrom(...ADDRESSES);
const query = fc.record({
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
        const read = async (query: SourceQuery, reader: typeof store.reader) => {
          const wanted = { ...query, scope, range: RANGE, today: RANGE.to };
          const { counted, ...found } = await readSources(reader, wanted);
          return found;
        };
        for (const one of steps)
          if (one.kind === 'send') await send(one.address, one.count, one.spf as 'pass');
          else if (one.kind === 'mark') await mark(one.address, one.as as 'unknown');
          else
            expect(await read(one.query as SourceQuery, store.reader)).toEqual(
              await read(one.query as SourceQuery, { ...store.reader }),
            );
        await store.close();
      }),
      { numRuns: caseCount({ few: 12, full: 100 }) },
    );
  });

  test('are read from the rows once while no report comes', async () => {
    const { store, scope, send } = await aDomainOfAccount();
    await send('192.0.2.1', 3);
    let plans = 0;
    const reader: typeof store.reader = {
      ...store.reader,
      readPlan: (plan) => {
        plans += 1;
        return store.reader.readPlan(plan);
      },
    };
    const read = async () =>
      (await sumRange(reader, { domainId: scope.domainId, range: RANGE, today: RANGE.to })).summed;
    expect(await read()).toBe(await read());
    expect(plans).toBe(1);
    await send('192.0.2.1', 4);
    expect((await read()).sources.get('192.0.2.1')?.messages).toBe(7);
    expect(plans).toBe(2);
    await store.close();
  });

  test('are shown to no other account', async () => {
    const { store, scope, send } = await aDomainOfAccount();
    await send('192.0.2.1', 3);
    const wanted = {
      scope,
      range: RANGE,
      today: RANGE.to,
      limit: 1,
      offset: 0,
    };
    await readSources(store.reader, wanted);
    const other = { ...scope, accountId: await aBareAccount(store.db) };
    const asked = readSources(store.reader, { ...wanted, scope: other });
    await expect(asked).rejects.toMatchObject({ code: 'not_found' });
    await store.close();
  });
});
