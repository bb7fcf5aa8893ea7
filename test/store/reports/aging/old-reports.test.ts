import { describe, expect, test } from 'vitest';
import { readConfig } from '../../../../src/config/config.ts';
import { measurePrune, prune } from '../../../../src/jobs/retention.ts';
import type { Db } from '../../../../src/store/engine/database.ts';
import type { Reader } from '../../../../src/store/engine/reader.ts';
import { insertAudit, listAudit, operator } from '../../../../src/store/events/audit.ts';
import {
  type FollowedHead,
  findFollowedHead,
  readFollowedPage,
} from '../../../../src/store/lists/followed.ts';
import type { Head } from '../../../../src/store/lists/heads.ts';
import { findHead, readPage } from '../../../../src/store/lists/page.ts';
import { measurePrunable, pruneReports } from '../../../../src/store/reports/aging/old-reports.ts';
import { reportsOf } from '../../../../src/store/reports/reports.ts';
import { aBareAccount, aDomain, aReport, receive } from '../../../support/builders.ts';
import { listMiscounts } from '../../../support/recount.ts';
import { holdSources } from '../../../support/recount-sources.ts';
import { aStore } from '../../../support/store.ts';

const mayGoOn = async () => true;
const WHOLE = { limit: 200, offset: 0 };
const day = (number: number) => `2026-01-${String(number).padStart(2, '0')}`;

/** A domain with reports of the given days, in the order in which they arrive, each on its own. */
async function aHistory(days: readonly number[]) {
  const store = await aStore();
  const { db, reader } = store;
  const accountId = await aBareAccount(db);
  const { id: domainId, name: domain } = await aDomain(db, accountId);
  for (const [i, number] of days.entries()) {
    const begin = `${day(number)}T00:00:00Z`;
    await receive(
      db,
      [aReport({ domain, reportId: `r${i}`, begin })],
      `${day(20)}T0${i % 10}:00:00Z`,
    );
  }
  return { db, reader, accountId, domainId, domain, list: reportsOf({ accountId, domainId }) };
}

async function hold(db: Db): Promise<void> {
  expect(await listMiscounts(db)).toEqual({});
  await holdSources(db);
}

type List = ReturnType<typeof reportsOf>;
type Start = Parameters<typeof findFollowedHead>[2];

/** The days of what came after a point, and the point behind it. */
async function follow(reader: Reader, list: List, start: Start) {
  const head = (await findFollowedHead(reader, list, start)) as FollowedHead;
  if (typeof head === 'string') return head;
  const page = await readFollowedPage(reader, list, { start, page: WHOLE, head });
  if (typeof page === 'string') throw new Error(page);
  expect(page.items).toHaveLength(page.total);
  const days = page.items.map((item) => Number(JSON.parse(item).begin_date.slice(8, 10)));
  return { days, point: page.point };
}

const toPoint = (head: Head | undefined) => {
  const { position = 0, nonce = '', generation = 0 } = head ?? {};
  return { position, nonce, generation, newest: { position, nonce } };
};

describe('pruning', () => {
  test('takes the days before, with their conflicts and documents, and every count stays right', async () => {
    const { db, reader, domain, list } = await aHistory([1, 2, 2, 3, 9]);
    const begin = `${day(1)}T00:00:00Z`;
    await receive(db, [aReport({ domain, reportId: 'r0', begin, payload: 'other' })]);
    const before = { before: day(3), daysKept: 1, mayGoOn };
    expect(await measurePrunable(db, before)).toMatchObject({ count: 3 });
    const pruned = await pruneReports(db, before);
    expect(pruned).toEqual({ count: 3, bytes: expect.any(Number) });
    expect(pruned.bytes).toBeGreaterThan(3 * 2048);
    expect((await readPage(reader, list, WHOLE)).total).toBe(2);
    expect(await db.selectFrom('conflict').select('seq').execute()).toEqual([]);
    expect(await db.selectFrom('document').select('seq').execute()).toHaveLength(2);
    await hold(db);
    expect(await pruneReports(db, before)).toEqual({ count: 0, bytes: 0 });
  });

  test('leaves the newest days whatever their age, because alerts compare with them', async () => {
    const { db, reader, list } = await aHistory([1, 2, 3, 4]);
    await pruneReports(db, { before: '2030-01-01', daysKept: 3, mayGoOn });
    expect((await readPage(reader, list, WHOLE)).total).toBe(3);
    await pruneReports(db, { before: '2030-01-01', daysKept: 9, mayGoOn });
    expect((await readPage(reader, list, WHOLE)).total).toBe(3);
    await hold(db);
  });

  test('a follower meets what is left once, and no cursor becomes bad', async () => {
    const { db, reader, domain, list } = await aHistory([1, 5, 2, 6, 3]);
    const cursors: Start[] = [];
    for (let limit = 0; limit <= 5; limit += 1) {
      const page = { limit: Math.max(1, limit), offset: 0 };
      const head = (await findFollowedHead(reader, list, 'start')) as FollowedHead;
      const read = await readFollowedPage(reader, list, { start: 'start', page, head });
      if (typeof read === 'string') throw new Error(read);
      cursors.push(limit === 0 ? ('start' as const) : read.point);
    }
    await pruneReports(db, { before: day(3), daysKept: 1, mayGoOn });
    await hold(db);
    const rest = async () =>
      Promise.all(
        cursors.map(async (start) => {
          const found = await follow(reader, list, start);
          return typeof found === 'string' ? found : found.days;
        }),
      );
    expect(await rest()).toEqual([[5, 6, 3], [5, 6, 3], [6, 3], [6, 3], [3], []]);
    await pruneReports(db, { before: day(6), daysKept: 1, mayGoOn });
    await hold(db);
    expect(await rest()).toEqual([[6], [6], [6], [6], [], []]);
    await receive(db, [aReport({ domain, reportId: 'new', begin: `${day(9)}T00:00:00Z` })]);
    expect(await rest()).toEqual([[6, 9], [6, 9], [6, 9], [6, 9], [9], [9]]);
  });

  test('positions before the first report that is left take no space', async () => {
    const { db, domainId } = await aHistory(Array.from({ length: 20 }, (_, i) => i + 1));
    await pruneReports(db, { before: day(18), daysKept: 1, mayGoOn });
    for (const table of ['list_gap', 'list_point'] as const) {
      const rows = db.selectFrom(table).select('position').where('list_id', '=', domainId);
      expect((await rows.execute()).length, table).toBeLessThanOrEqual(1);
    }
  });

  test('a removal after it is still a 410 for who had a cursor before', async () => {
    const { db, reader, list, domainId } = await aHistory([1, 5, 6]);
    const point = toPoint(await findHead(reader, list));
    await pruneReports(db, { before: day(3), daysKept: 1, mayGoOn });
    expect(await follow(reader, list, point)).toMatchObject({ days: [] });
    await db.write((tx) =>
      tx.updateTable('domain').set({ reports_generation: 7 }).where('id', '=', domainId).execute(),
    );
    expect(await findFollowedHead(reader, list, point)).toBe('no_point');
  });

  test('reports of a domain that no account has stay: they have bounds of their own', async () => {
    const { db } = await aStore();
    await receive(db, [aReport({ domain: 'none.example', begin: `${day(1)}T00:00:00Z` })]);
    expect(await pruneReports(db, { before: day(9), daysKept: 1, mayGoOn })).toEqual({
      count: 0,
      bytes: 0,
    });
  });

  test('stops where it is when it may not go on', async () => {
    const { db } = await aHistory([1, 2, 3, 9]);
    let times = 2;
    const stopping = async () => times-- > 0;
    const pruned = await pruneReports(db, { before: day(5), daysKept: 1, mayGoOn: stopping });
    expect(pruned.count).toBe(2);
    await hold(db);
  });
});

test('the audit is kept for so many days', async () => {
  const { db } = await aStore();
  const accountId = await aBareAccount(db);
  for (const at of [`${day(1)}T00:00:00Z`, `${day(9)}T00:00:00Z`])
    await db.write((tx) =>
      insertAudit(tx, operator(at), { accountId, action: 'key_created', subject: at }),
    );
  const config = readConfig({ PLUMBLINE_KEEP_AUDIT_DAYS: '30' });
  const { kept, alertThresholds: thresholds } = config;
  const now = () => new Date('2026-02-05T00:00:00Z');
  const deps = { db, kept, thresholds, now, mayGoOn };
  expect(await measurePrune(deps)).toMatchObject({ auditEntries: 1 });
  const pruned = await prune(deps);
  expect(pruned).toMatchObject({ reports: 0, bytes: 0, auditEntries: 1, fileBytes: 0 });
  const left = await listAudit(db, accountId, { limit: 9 });
  expect(left.map(({ subject }) => subject)).toEqual([`${day(9)}T00:00:00Z`, 'Example']);
});
