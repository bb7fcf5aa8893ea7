import { describe, expect, onTestFinished, test } from 'vitest';
import { domainsOf } from '../../src/store/domains/domains.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { withReplica } from '../../src/store/engine/postgres/reader.ts';
import type { BoundQuery } from '../../src/store/engine/prepared.ts';
import { type Plan, type Reader, runPlan } from '../../src/store/engine/reader.ts';
import { type Head, newVersion } from '../../src/store/lists/heads.ts';
import {
  findHead,
  MAX_PAGE_BYTES,
  parseItems,
  readCurrentPage,
  readPage,
  takeFitting,
} from '../../src/store/lists/page.ts';
import { findPageStart, listDaysOf, type PageStart } from '../../src/store/lists/timeline.ts';
import { reportsOf } from '../../src/store/reports/reports.ts';
import { aDomain, anAccount, aReport, receive, UNKNOWN_ID } from '../support/builders.ts';
import { aDatabase, aStore } from '../support/store.ts';

test.each([
  ['all of them', [1, MAX_PAGE_BYTES - 1], 2],
  ['those before one too many', [1, MAX_PAGE_BYTES - 1, 1], 2],
  ['one that is too large', [MAX_PAGE_BYTES + 1, 1], 1],
  ['none of none', [], 0],
])('a page of items that have together at most 4 MiB has %s', (_, sizes, count) => {
  expect(takeFitting(sizes, (size) => size)).toEqual(sizes.slice(0, count));
});

/** Three items on 2 March, one on 1 March, two on 28 February; and how many queries have asked for them. */
function aCountedList() {
  const days = [
    { day: '2026-03-02', items: 3 },
    { day: '2026-03-01', items: 1 },
    { day: '2026-02-28', items: 2 },
  ];
  let queries = 0;
  const read = (asked: readonly BoundQuery<unknown>[]) => {
    queries += asked.length;
    return asked.map(() => days);
  };
  return { run: (plan: Plan<PageStart>) => runPlan(plan, read), asked: () => queries };
}

test.each([
  [1, '2026-03-02T23:59:59Z', 1],
  [2, '2026-03-02T23:59:59Z', 2],
  [3, '2026-03-01T23:59:59Z', 0],
  [4, '2026-02-28T23:59:59Z', 0],
  [5, '2026-02-28T23:59:59Z', 1],
])('the page at offset %i begins %s, after %i items', (offset, until, skip) => {
  const list = { query: listDaysOf(UNKNOWN_ID), version: newVersion() };
  expect(aCountedList().run(findPageStart(list, offset))).toEqual({ until, skip });
});

test('the counts of one version are read once, those of another version are read again', () => {
  const { run, asked } = aCountedList();
  const list = { query: listDaysOf(UNKNOWN_ID), version: newVersion() };
  run(findPageStart(list, 1));
  expect(asked()).toBe(1);
  run(findPageStart(list, 2));
  run(findPageStart(list, 5));
  expect(asked()).toBe(1);
  run(findPageStart({ ...list, version: newVersion() }, 1));
  expect(asked()).toBe(2);
});

test('the first page needs no counts', () => {
  const { run, asked } = aCountedList();
  run(findPageStart({ query: listDaysOf(UNKNOWN_ID), version: newVersion() }, 0));
  expect(asked()).toBe(0);
});

test('a head is the current one, also when nobody has looked up a key before', async () => {
  const { db, reader, close } = await openStore(await aDatabase());
  onTestFinished(close);
  const { id: accountId } = await anAccount(db);
  const list = domainsOf(accountId);
  await findHead(reader, list);
  await aDomain(db, accountId);
  expect(await findHead(reader, list)).toMatchObject({ total: 1 });
});

test('what a reporter wrote is listed as it is, whatever JSON needs for it', async () => {
  const { db, reader } = await aStore();
  const { id: accountId } = await anAccount(db);
  const { id: domainId } = await aDomain(db, accountId, { name: 'example.com' });
  const orgName = 'a "b" \\ / \u0001 \u007f \u2028 ü 漢 😀';
  await receive(db, [
    aReport({ orgName, email: null }),
    aReport({ orgName: null, begin: '2026-03-01T00:00:00Z' }),
  ]);
  const page = await readPage(reader, reportsOf({ accountId, domainId }), { limit: 9, offset: 0 });
  const [newest, older] = parseItems(page);
  expect(newest).toMatchObject({ reporter_org: orgName, reporter_email: null });
  expect(older).toMatchObject({ reporter_org: null });
});

describe('a page for a caller that has read the head', () => {
  const page = { limit: 9, offset: 0 };

  /** A list of one report, its head, readers without and with a replica, and what the databases were asked. */
  async function aList() {
    const { db, reader } = await aStore();
    const { id: accountId } = await anAccount(db);
    const { id: domainId } = await aDomain(db, accountId, { name: 'example.com' });
    await receive(db, [aReport()]);
    const list = reportsOf({ accountId, domainId });
    const head = (await findHead(reader, list)) as Head;
    const asked: string[] = [];
    const primary = toNoting(reader, (name) => asked.push(`primary: ${name}`));
    const replica = toNoting(reader, (name) => asked.push(`replica: ${name}`));
    const both = withReplica(primary, replica, () => {});
    return { db, list, head, reader: primary, both, asked };
  }

  /** A reader that notes how it is asked. */
  function toNoting(reader: Reader, note: (name: keyof Reader) => void): Reader {
    const noting: Reader = {
      readFirst: (query) => {
        note('readFirst');
        return reader.readFirst(query);
      },
      readAll: (query) => {
        note('readAll');
        return reader.readAll(query);
      },
      readPlan: (plan) => {
        note('readPlan');
        return reader.readPlan(plan);
      },
      readNoOlder: (read) => read(noting),
    };
    return noting;
  }

  test('is one query while the list has not changed', async () => {
    const { list, head, reader, asked } = await aList();
    const read = await readCurrentPage(reader, list, { page, head });
    expect([read.version, read.total, read.items.length]).toEqual([head.version, 1, 1]);
    expect(asked).toEqual(['primary: readAll']);
  });

  test('is the page of the new head when the list has changed since', async () => {
    const { db, list, head, reader, asked } = await aList();
    await receive(db, [aReport({ reportId: 'second' })]);
    const read = await readCurrentPage(reader, list, { page, head });
    expect([read.total, read.items.length]).toEqual([2, 2]);
    expect(read.version).not.toBe(head.version);
    expect(asked).toEqual(['primary: readAll', 'primary: readPlan']);
  });

  test('is asked of a replica once, also when the list has changed since', async () => {
    const { db, list, head, both, asked } = await aList();
    await readCurrentPage(both, list, { page, head });
    expect(asked.splice(0)).toEqual(['replica: readAll']);
    await receive(db, [aReport({ reportId: 'second' })]);
    const read = await readCurrentPage(both, list, { page, head });
    expect([read.total, read.items.length]).toEqual([2, 2]);
    expect(asked).toEqual(['replica: readAll', 'primary: readAll', 'primary: readPlan']);
  });

  test('behind the end of the list comes from the replica', async () => {
    const { list, head, both, asked } = await aList();
    const read = await readCurrentPage(both, list, { page: { limit: 9, offset: 1 }, head });
    expect([read.version, read.items.length]).toEqual([head.version, 0]);
    expect(asked).toEqual(['replica: readPlan']);
  });
});
