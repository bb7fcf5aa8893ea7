import { expect, test } from 'vitest';
import { isKept, unpackSources } from '../../../src/domain/sources/packed-sources.ts';
import { measureOldSources, pruneSources } from '../../../src/store/days/old-sources.ts';
import { pruneReports } from '../../../src/store/reports/aging/old-reports.ts';
import { removeReport } from '../../../src/store/reports/corrections.ts';
import { readSources } from '../../../src/store/sources/list.ts';
import { findSourcesState } from '../../../src/store/sources/summed-range.ts';
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
  const read = async () => {
    const query = { range: RANGE, failingOnly: false, limit: 100, offset: 0 };
    const found = await readSources(reader, { accountId, domainId }, query);
    const { messages, unlisted, sources } = found;
    return { messages, unlisted, addresses: sources.map(({ address }) => address).sort() };
  };
  /** By the day's own row. */
  const listKept = async () => {
    const rows = await db.selectFrom('domain_day').select('sources').orderBy('day').execute();
    return rows.map(({ sources }) => unpackSources(sources).size);
  };
  const hold = async () => {
    expect(await listMiscounts(db)).toEqual({});
    expect(await Array.fromAsync(verify(store))).toEqual([]);
  };
  return { db, reader, scope: { accountId, domainId }, add, read, listKept, hold };
}

test('who sent goes by age, and the messages stay counted', async () => {
  const { db, reader, scope, read, listKept, hold } = await aHistory([1, 2, 3, 9]);
  expect(await read()).toMatchObject({ messages: 40, unlisted: 0 });
  const state = await findSourcesState(reader, scope);
  const measured = await measureOldSources(db, before(3));
  expect(measured).toEqual({ count: 2, bytes: expect.any(Number) });
  expect(await pruneSources(db, before(3))).toEqual(measured);
  expect(await listKept()).toEqual([0, 0, 1, 1]);
  const left = { messages: 40, unlisted: 20, addresses: ['192.0.2.3', '192.0.2.9'] };
  expect(await read()).toEqual(left);
  expect(await read()).toEqual(left);
  // The entity tag of the API's list has the version.
  expect((await findSourcesState(reader, scope))?.version).not.toBe(state?.version);
  await hold();
  expect(await pruneSources(db, before(3))).toEqual({ count: 0, bytes: 0 });
});

test('a report that comes, is removed or goes later changes no sources that are not kept', async () => {
  const { db, add, listKept, read, hold } = await aHistory([1, 2, 2, 9]);
  await pruneSources(db, before(3));
  await add('late', 2, { authenticated: '' });
  expect(await listKept()).toEqual([0, 0, 1]);
  expect(await read()).toMatchObject({ messages: 50, unlisted: 40, addresses: ['192.0.2.9'] });
  await hold();
  const ids = await db
    .selectFrom('report')
    .select('id')
    .where('begin_date', '>=', day(2))
    .orderBy('seq')
    .execute();
  await removeReport(db, ids[0]?.id ?? '', `${day(21)}T00:00:00Z`);
  expect(await listKept()).toEqual([0, 0, 1]);
  await hold();
  await pruneReports(db, before(2));
  expect(await listKept()).toEqual([0, 1]);
  await hold();
  const views = await db.selectFrom('alert_day').select('sources').execute();
  expect(views.map(({ sources }) => isKept(sources))).toEqual([false]);
});

test('those of the newest days stay whatever their age, because alerts compare with them', async () => {
  const { db, listKept } = await aHistory([1, 2, 3, 4]);
  await pruneSources(db, before(31, 3));
  expect(await listKept()).toEqual([0, 1, 1, 1]);
});
