import { expect, test } from 'vitest';
import { findWork } from '../../src/judging/work.ts';
import type { Reader } from '../../src/store/engine/reader.ts';
import { aBareAccount, aDomain, aReport, NOW, receive } from '../support/builders.ts';
import { aStore } from '../support/store.ts';

/** A reader whose `count`-th call of a method ends only when it is let go on, with what it found before. */
function holdUp(reader: Reader, method: 'readAll' | 'readPlan', count: number) {
  const held = Promise.withResolvers<void>();
  const free = Promise.withResolvers<void>();
  let calls = 0;
  const read = async (asked: never) => {
    const found = await reader[method](asked);
    calls += 1;
    if (calls === count) {
      held.resolve();
      await free.promise;
    }
    return found;
  };
  const slow = { ...reader, madeBy: reader, [method]: read } as Reader;
  return { slow, held: held.promise, letGo: free.resolve };
}

test('work that is found again while it is being found has what came in between', async () => {
  const { db, reader } = await aStore();
  const accountId = await aBareAccount(db);
  const { name: domain } = await aDomain(db, accountId);
  const send = (reportId: string) =>
    receive(db, [aReport({ domain, reportId, totalMessages: 10 })]);
  const find = async (of: Reader) => {
    const { items } = await findWork(of, { accountId, now: new Date(NOW) });
    return items.map(({ facts }) => facts.counts.messages);
  };
  await send('first');
  // Domains are read by a plan, then alerts, then sums of the domains by another plan.
  const former = holdUp(reader, 'readPlan', 2);
  const before = find(former.slow);
  await former.held;
  await send('second');
  const latter = holdUp(reader, 'readAll', 2);
  const after = find(latter.slow);
  await latter.held;
  former.letGo();
  expect(await before).toEqual([10]);
  latter.letGo();
  expect(await after).toEqual([20]);
  expect(await find(reader)).toEqual([20]);
});
