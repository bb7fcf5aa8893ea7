import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { receiveInputs } from '../../../../scripts/receive.ts';
import { readOriginal } from '../../../../src/store/documents/originals.ts';
import type { Db } from '../../../../src/store/engine/database.ts';
import type { Store } from '../../../../src/store/engine/store.ts';
import {
  measureOldOriginals,
  pruneOriginals,
} from '../../../../src/store/reports/aging/old-originals.ts';
import { pruneReports } from '../../../../src/store/reports/aging/old-reports.ts';
import {
  preferConflict,
  removeConflict,
  removeReport,
} from '../../../../src/store/reports/corrections.ts';
import { verify } from '../../../../src/store/verify/verify.ts';
import { aBareAccount, aDomain, aReport, receive } from '../../../support/builders.ts';
import { listMiscounts } from '../../../support/recount.ts';
import { holdSources } from '../../../support/recount-sources.ts';
import { aStore } from '../../../support/store.ts';

const mayGoOn = async () => true;
const day = (number: number) => `2026-01-${String(number).padStart(2, '0')}`;
const at = (number: number) => `${day(number)}T12:00:00Z`;
const until = (number: number) => ({ before: day(number), mayGoOn });

/** A domain with a report of each of the given days, which came at noon of the day after. */
async function aHistory(days: readonly number[]) {
  const store = await aStore();
  const { db } = store;
  const { name: domain } = await aDomain(db, await aBareAccount(db));
  const toReport = (i: number, payload?: string, of = days[i] ?? 1) =>
    aReport({
      domain,
      reportId: `r${i}`,
      begin: `${day(of)}T00:00:00Z`,
      ...(payload && { payload }),
    });
  for (const [i, number] of days.entries()) await receive(db, [toReport(i)], at(number + 1));
  return { store, db, toReport };
}

/** Which documents have their original, in the order in which they came. */
async function listKept(db: Db): Promise<boolean[]> {
  const rows = await db.selectFrom('document').select('content').orderBy('seq').execute();
  return rows.map(({ content }) => content !== null);
}

async function hold({ db, reader }: Pick<Store, 'db' | 'reader'>): Promise<void> {
  expect(await listMiscounts(db)).toEqual({});
  await holdSources(db);
  expect(await Array.fromAsync(verify({ db, reader }))).toEqual([]);
}

test('originals of the days before go, their reports stay, and every count stays right', async () => {
  const { store, db } = await aHistory([2, 2, 3, 9]);
  const wanted = { count: 3, bytes: expect.any(Number) };
  const measured = await measureOldOriginals(db, until(4));
  expect(measured).toEqual(wanted);
  expect(await pruneOriginals(db, until(4))).toEqual(measured);
  expect(await listKept(db)).toEqual([false, false, false, true]);
  expect(await db.selectFrom('report').select('id').execute()).toHaveLength(4);
  await hold(store);
  expect(await pruneOriginals(db, until(4))).toEqual({ count: 0, bytes: 0 });
  await expect(readOriginal(db, 1)).rejects.toThrow('is not kept any more');
  expect((await readOriginal(db, 4)).length).toBeGreaterThan(0);
});

test('what is removed, corrected or pruned later is subtracted without its original', async () => {
  const { store, db, toReport } = await aHistory([2, 3, 4, 5]);
  await receive(db, [toReport(1, 'other')], at(6));
  await pruneOriginals(db, until(5));
  const [first] = await db.selectFrom('report').select('id').orderBy('seq').execute();
  await removeReport(db, first?.id ?? '', at(9));
  await hold(store);
  await preferConflict(db, 1);
  await hold(store);
  await removeConflict(db, 1);
  await hold(store);
  await pruneOriginals(db, until(20));
  await hold(store);
  expect(await listKept(db)).toEqual(Array(5).fill(false));
  await receive(db, [toReport(9, undefined, 8)], at(21));
  await pruneReports(db, { before: day(8), mayGoOn });
  expect(await db.selectFrom('report').select('id').execute()).toHaveLength(1);
  await hold(store);
});

test('the original of a conflict goes by the day of its report, whenever it comes', async () => {
  const { store, db, toReport } = await aHistory([2, 3]);
  await pruneOriginals(db, until(3));
  for (const i of [0, 1]) await receive(db, [toReport(i, 'other')], at(11));
  expect(await listKept(db)).toEqual([false, true, true, true]);
  expect(await pruneOriginals(db, until(3))).toMatchObject({ count: 1 });
  expect(await listKept(db)).toEqual([false, true, false, true]);
  expect(await pruneOriginals(db, until(4))).toMatchObject({ count: 2 });
  expect(await listKept(db)).toEqual([false, false, false, false]);
  await hold(store);
});

test('the original of a late report of a day whose originals have gone goes at the next time', async () => {
  const { store, db, toReport } = await aHistory([2, 9]);
  await pruneOriginals(db, until(5));
  for (const late of [toReport(7, undefined, 1), toReport(8, undefined, 9)])
    await receive(db, [late], at(11));
  expect(await listKept(db)).toEqual([false, true, true, true]);
  expect(await measureOldOriginals(db, until(5))).toMatchObject({ count: 1 });
  expect(await pruneOriginals(db, until(5))).toMatchObject({ count: 1 });
  expect(await listKept(db)).toEqual([false, true, false, true]);
  expect(await pruneOriginals(db, until(5))).toEqual({ count: 0, bytes: 0 });
  await hold(store);
});

test('an original that has gone does not come back with its input, neither a part of it', async () => {
  const { store, db, toReport } = await aHistory([]);
  const bytes = Buffer.concat([Buffer.from('PK'), randomBytes(2 * 1024 * 1024)]);
  const small = {
    name: 'b',
    bytes: Buffer.from('small'),
    documents: [{ member: [], content: toReport(1) }],
  };
  const inputs = [{ name: 'a', bytes, documents: [{ member: [], content: toReport(0) }] }, small];
  await receiveInputs(db, inputs, at(2));
  await pruneOriginals(db, until(3));
  for (let times = 0; times < 2; times += 1) {
    expect(await receiveInputs(db, inputs, at(4))).toEqual(['duplicate', 'duplicate']);
    expect(await listKept(db)).toEqual([false, false]);
    expect(await db.selectFrom('document_part').select('part').execute()).toEqual([]);
    await hold(store);
    // Then the documents come whose reports were removed.
    for (const { id } of await db.selectFrom('report').select('id').execute())
      await removeReport(db, id, at(5)).catch(() => undefined);
    await db.write((tx) => tx.deleteFrom('removed_payload').execute());
    await receiveInputs(db, inputs, at(6));
    await hold(store);
  }
});

test('what an operator removes goes with its original', async () => {
  const { db } = await aHistory([2, 3]);
  const [first] = await db.selectFrom('report').select('id').orderBy('seq').execute();
  await removeReport(db, first?.id ?? '', at(9));
  expect(await listKept(db)).toEqual([false, true]);
});

test('it stops where it is when it may not go on, and goes on there', async () => {
  const { db } = await aHistory([2, 3]);
  expect(await pruneOriginals(db, { before: day(9), mayGoOn: async () => false })).toEqual({
    count: 0,
    bytes: 0,
  });
  expect(await pruneOriginals(db, until(9))).toMatchObject({ count: 2 });
});
