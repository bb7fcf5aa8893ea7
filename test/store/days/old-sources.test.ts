import { expect, test } from 'vitest';
import { storeSources } from '../../../src/store/days/day-sources.ts';
import { findSourcesState, listSources } from '../../../src/store/days/source-list.ts';
import { measureOldSources, pruneSources } from '../../../src/store/reports/aging/old-sources.ts';
import { verify } from '../../../src/store/verify/verify.ts';
import { aBareAccount, aDomain, aRecord, aReportOf, receive } from '../../support/builders.ts';
import { listMiscounts } from '../../support/recount.ts';
import { aStore } from '../../support/store.ts';

const mayGoOn = async () => true;
const day = (number: number) => `2026-01-${String(number).padStart(2, '0')}`;
const before = (number: number, daysKept = 1) => ({ before: day(number), daysKept, mayGoOn });
const RANGE = { from: day(1), to: day(31) };

/** Reports of ten messages of one address, each of the given days; the first by nobody who is known. */
async function aHistory(days: readonly number[]) {
  const store = await aStore();
  const { db, reader } = store;
  const accountId = await aBareAccount(db);
  const { id: domainId, name: domain } = await aDomain(db, accountId);
  const add = (reportId: string, number: number, sender = {}) => {
    const records = [aRecord({ sourceIp: `192.0.2.${number}`, count: 10 })];
    const report = { domain, reportId, begin: `${day(number)}T00:00:00Z` };
    return receive(db, [aReportOf(records, report)], `${day(20)}T00:00:00Z`, sender);
  };
  for (const [i, number] of days.entries())
    await add(`r${i}`, number, i === 0 ? { authenticated: '' } : {});
  const read = async (first?: string) => {
    const scope = { accountId, domainId };
    const query = { scope, range: RANGE, failingOnly: false, limit: 100, offset: 0 };
    const { messages, unlisted, sources, counted } = await listSources({ ...reader }, query);
    if (counted !== undefined) await storeSources(db, counted, first);
    return { messages, unlisted, addresses: sources.map(({ address }) => address).sort() };
  };
  /** By the day's own row. */
  const listKept = async () => {
    const rows = await db.selectFrom('domain_day').select('sources').orderBy('day').execute();
    return rows.map(({ sources }) => sources !== null);
  };
  const hold = async () => {
    expect(await listMiscounts(db)).toEqual({});
    expect(await Array.fromAsync(verify(store))).toEqual([]);
  };
  return { db, reader, scope: { accountId, domainId }, add, read, listKept, hold };
}

test('the caches of old days go, and are counted again for who looks', async () => {
  const { db, reader, scope, read, listKept, hold } = await aHistory([1, 2, 3, 9]);
  const found = await read();
  expect(found).toMatchObject({ messages: 40, unlisted: 0 });
  expect(await listKept()).toEqual([true, true, true, true]);
  const state = await findSourcesState(reader, scope);
  const measured = await measureOldSources(db, before(3));
  expect(measured).toEqual({ count: 2, bytes: expect.any(Number) });
  expect(await pruneSources(db, before(3))).toEqual(measured);
  expect(await listKept()).toEqual([false, false, true, true]);
  expect(await read(day(3))).toEqual(found);
  expect(await listKept()).toEqual([false, false, true, true]);
  // The entity tag of the API's list has the version: nothing that it shows has changed.
  expect((await findSourcesState(reader, scope))?.version).toBe(state?.version);
  await hold();
  expect(await pruneSources(db, before(3))).toEqual({ count: 0, bytes: 0 });
});

test('those of the newest days stay whatever their age, because alerts compare with them', async () => {
  const { db, listKept, read } = await aHistory([1, 2, 3, 4]);
  await read();
  await pruneSources(db, before(31, 3));
  expect(await listKept()).toEqual([false, true, true, true]);
});
