import { describe, expect, test } from 'vitest';
import { readConfig } from '../../../../src/config/config.ts';
import type { Cursor, Start } from '../../../../src/domain/cursor.ts';
import { measurePrune, prune } from '../../../../src/jobs/retention.ts';
import type { Db } from '../../../../src/store/engine/database.ts';
import type { Reader } from '../../../../src/store/engine/reader.ts';
import { insertAudit, listAudit, operator } from '../../../../src/store/events/audit.ts';
import { readFeed } from '../../../../src/store/feed/feed.ts';
import { findFollowedHead, readFollowedPage } from '../../../../src/store/lists/followed.ts';
import { readPage } from '../../../../src/store/lists/page.ts';
import { measurePrunable, pruneReports } from '../../../../src/store/reports/aging/old-reports.ts';
import { removeReport } from '../../../../src/store/reports/corrections.ts';
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

/** The days of what came after a cursor, and the cursor behind them. */
async function follow(reader: Reader, list: List, start: Start, limit = WHOLE.limit) {
  const head = await findFollowedHead(reader, list, start);
  if (typeof head === 'string') return head;
  const page = await readFollowedPage(reader, list, { start, page: { limit, offset: 0 }, head });
  if (typeof page === 'string') throw new Error(page);
  expect(page.items).toHaveLength(Math.min(limit, page.total));
  const days = page.items.map((item) => Number(JSON.parse(item).begin_date.slice(8, 10)));
  return { days, cursor: page.cursor };
}

/** Behind the first so many reports. */
async function aCursor(reader: Reader, list: List, reports: number): Promise<Cursor> {
  const found = await follow(reader, list, 'start', reports);
  if (typeof found === 'string') throw new Error(found);
  return found.cursor;
}

describe('pruning', () => {
  test('takes the days before, with their conflicts and documents, and every count stays right', async () => {
    const { db, reader, domain, list } = await aHistory([1, 2, 2, 3, 9]);
    const begin = `${day(1)}T00:00:00Z`;
    await receive(db, [aReport({ domain, reportId: 'r0', begin, payload: 'other' })]);
    const before = { before: day(3), mayGoOn };
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

  test('a domain whose last report was old kept it for ever, with the days before', async () => {
    const { db, reader, list } = await aHistory([1, 2, 3, 4]);
    await pruneReports(db, { before: day(3), mayGoOn });
    expect((await readPage(reader, list, WHOLE)).total).toBe(2);
    await pruneReports(db, { before: '2030-01-01', mayGoOn });
    expect((await readPage(reader, list, WHOLE)).total).toBe(0);
    expect(await db.selectFrom('domain_day').select('day').execute()).toEqual([]);
    await hold(db);
  });

  test('a follower meets what is left once, and no cursor becomes bad', async () => {
    const { db, reader, domain, list } = await aHistory([1, 5, 2, 6, 3]);
    const cursors: Start[] = ['start'];
    for (const reports of [1, 2, 3, 4, 5]) cursors.push(await aCursor(reader, list, reports));
    await pruneReports(db, { before: day(3), mayGoOn });
    await hold(db);
    const rest = async () =>
      Promise.all(
        cursors.map(async (start) => {
          const found = await follow(reader, list, start);
          return typeof found === 'string' ? found : found.days;
        }),
      );
    expect(await rest()).toEqual([[5, 6, 3], [5, 6, 3], [6, 3], [6, 3], [3], []]);
    await pruneReports(db, { before: day(6), mayGoOn });
    await hold(db);
    expect(await rest()).toEqual([[6], [6], [6], [6], [], []]);
    await receive(db, [aReport({ domain, reportId: 'new', begin: `${day(9)}T00:00:00Z` })]);
    expect(await rest()).toEqual([[6, 9], [6, 9], [6, 9], [6, 9], [9], [9]]);
  });

  test('a removal after it is still a 410 for who had a cursor before', async () => {
    const { db, reader, list } = await aHistory([1, 5, 6]);
    const cursor = await aCursor(reader, list, 3);
    await pruneReports(db, { before: day(3), mayGoOn });
    expect(await follow(reader, list, cursor)).toMatchObject({ days: [] });
    const { id } = await db.selectFrom('report').select('id').limit(1).executeTakeFirstOrThrow();
    await removeReport(db, id, `${day(21)}T00:00:00Z`);
    expect(await follow(reader, list, cursor)).toBe('expired');
    expect(await follow(reader, list, 'start')).toMatchObject({ days: { length: 1 } });
  });

  test('no client that follows the account is told of it, and each goes on', async () => {
    const { db, reader, accountId, domain } = await aHistory([1, 2, 9]);
    const read = async (start: Start) => await readFeed(reader, { accountId, start, limit: 9 });
    const before = await read('start');
    await pruneReports(db, { before: day(3), mayGoOn });
    expect((await read(before?.cursor ?? 'start'))?.items).toEqual([]);
    await receive(db, [aReport({ domain, begin: `${day(9)}T00:00:00Z` })]);
    const types = (await read(before?.cursor ?? 'start'))?.items.map(
      (item) => JSON.parse(item).type,
    );
    expect(types).toEqual(['report.stored']);
  });

  test('reports of a domain that no account has stay: they have bounds of their own', async () => {
    const { db } = await aStore();
    await receive(db, [aReport({ domain: 'none.example', begin: `${day(1)}T00:00:00Z` })]);
    expect(await pruneReports(db, { before: day(9), mayGoOn })).toEqual({
      count: 0,
      bytes: 0,
    });
  });

  test('stops where it is when it may not go on', async () => {
    const { db } = await aHistory([1, 2, 3, 9]);
    let times = 2;
    const stopping = async () => times-- > 0;
    const pruned = await pruneReports(db, { before: day(5), mayGoOn: stopping });
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
