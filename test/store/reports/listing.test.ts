import { describe, expect, test } from 'vitest';
import { addDomain, updateDomainStatus } from '../../../src/store/domains/domains.ts';
import { removeDomain } from '../../../src/store/domains/removed-domains.ts';
import type { Db } from '../../../src/store/engine/database.ts';
import type { Store } from '../../../src/store/engine/store.ts';
import { operator } from '../../../src/store/events/audit.ts';
import { parseItems, readPage } from '../../../src/store/lists/page.ts';
import { finishListing, finishListings } from '../../../src/store/reports/listing.ts';
import { reportsOfAccount } from '../../../src/store/reports/reports.ts';
import { aBareAccount, aDomain, aReport, NOW, receive } from '../../support/builders.ts';
import { FeedClient } from '../../support/feed-client.ts';
import { listMiscounts } from '../../support/recount.ts';
import { aStore } from '../../support/store.ts';

const REPORTS = 1_200;
const AT_ONCE = 100;
const NAME = 'a.example';
const by = operator(NOW);

/** Reports of a domain, on three days. */
const reportsOf = (domain: string, count: number) =>
  Array.from({ length: count }, (_, i) =>
    aReport({ domain, begin: `2026-03-1${i % 3}T00:00:00Z` }),
  );

/** The same database, for a process that is killed after its first so many transactions. */
function killedAfter(db: Db, writes: number): Db {
  let left = writes;
  const write: Db['write'] = async (change) => {
    if (left === 0) throw new Error('Killed.');
    left -= 1;
    return await db.write(change);
  };
  return { ...db, write };
}

/** Changes a domain as a process that is killed before the first report comes or leaves. */
const killed = (change: Promise<unknown>) => expect(change).rejects.toThrow('Killed.');

/** An account's list has the reports with the account's number, by its total, its pages and its days. */
async function countListed({ db, reader }: Store, accountId: string): Promise<number> {
  const { seq } = await db
    .selectFrom('account')
    .select('seq')
    .where('id', '=', accountId)
    .executeTakeFirstOrThrow();
  const rows = await db
    .selectFrom('report')
    .select(['id', 'number'])
    .where('account_seq', '=', seq)
    .orderBy('begin_date', 'desc')
    .orderBy('seq', 'desc')
    .execute();
  const paged: string[] = [];
  for (let offset = 0; offset <= rows.length; offset += 500) {
    const page = await readPage(reader, reportsOfAccount(accountId), { limit: 500, offset });
    expect(page.total).toBe(rows.length);
    paged.push(...parseItems(page).map(({ id }) => id));
  }
  expect(paged).toEqual(rows.map(({ id }) => id));
  expect(new Set(rows.map(({ number }) => number)).size).toBe(rows.length);
  expect(await listMiscounts(db)).toEqual({});
  return rows.length;
}

/** Goes on with the listing in processes that are killed again and again; what each account's list has meanwhile. */
async function finish(
  store: Store,
  accountIds: readonly string[],
  between: () => Promise<unknown> = async () => undefined,
): Promise<number[][]> {
  const counts: number[][] = [];
  for (let isDone = false; !isDone; ) {
    isDone = await finishListings(store.db, async () => false, AT_ONCE);
    const listed = [];
    for (const accountId of accountIds) listed.push(await countListed(store, accountId));
    counts.push(listed);
    if (!isDone) await between();
  }
  return counts;
}

/** How many reports a client has when it has followed. */
async function follow(client: FeedClient): Promise<number> {
  await client.follow();
  return client.reports.size;
}

const down = (from: number, to: number) =>
  Array.from({ length: (from - to) / AT_ONCE }, (_, i) => from - (i + 1) * AT_ONCE);

describe('reports of a domain come to their account’s list, and leave it, a bounded number at once', () => {
  /** An account with a report of another domain, and the reports of a domain that it does not have yet. */
  async function anUnclaimed() {
    const store = await aStore();
    const accountId = await aBareAccount(store.db);
    await aDomain(store.db, accountId, { name: 'other.example' });
    await receive(store.db, [aReport({ domain: 'other.example' })]);
    await receive(store.db, reportsOf(NAME, REPORTS));
    return { store, accountId };
  }

  const ONE = 1;
  const ofDomain = (counts: readonly number[][]) => counts.map(([count = 0]) => count - ONE);

  test('when it is added, paused and resumed', async () => {
    const { store, accountId } = await anUnclaimed();
    const { db } = store;
    const client = new FeedClient(store.reader, accountId);
    const added = { accountId, name: NAME, now: NOW };
    const { id } = await db.write((tx) => addDomain(tx, added, by));
    expect(await countListed(store, accountId)).toBe(ONE);
    const steps = down(REPORTS, 0).toReversed().slice(1);
    // With the last part it is not known yet that nothing is left.
    const come = await finish(store, [accountId], () => follow(client));
    expect(ofDomain(come)).toEqual([...steps, REPORTS, REPORTS]);
    expect(await follow(client)).toBe(REPORTS + ONE);

    await killed(updateDomainStatus(killedAfter(db, 1), id, 'paused', NOW));
    expect(await countListed(store, accountId)).toBe(REPORTS + ONE);
    expect(await follow(client)).toBe(ONE);
    expect(ofDomain(await finish(store, [accountId]))).toEqual([...down(REPORTS, 0), 0]);
    expect(await follow(client)).toBe(ONE);

    await updateDomainStatus(db, id, 'active', NOW);
    expect(await countListed(store, accountId)).toBe(REPORTS + ONE);
    expect(await follow(client)).toBe(REPORTS + ONE);
    expect(await follow(new FeedClient(store.reader, accountId))).toBe(REPORTS + ONE);
  });

  test('when it is removed while reports come in, which its next account has at once', async () => {
    const { store, accountId } = await anUnclaimed();
    const { db } = store;
    const { id } = await aDomain(db, accountId, { name: NAME });
    const next = await aBareAccount(db);
    const clients = [accountId, next].map((id) => new FeedClient(store.reader, id));
    const followBoth = async () => {
      const counts = [];
      for (const client of clients) counts.push(await follow(client));
      return counts;
    };
    expect(await followBoth()).toEqual([REPORTS + ONE, 0]);
    await killed(removeDomain(killedAfter(db, 1), id, { by }));
    await db.write((tx) => addDomain(tx, { accountId: next, name: NAME, now: NOW }, by));
    const counts = await finish(store, [accountId, next], async () => {
      await receive(db, reportsOf(NAME, 10));
      expect((await followBoth())[0]).toBe(ONE);
    });
    const [last] = counts.slice(-1);
    expect(last?.[0]).toBe(ONE);
    for (const [i, [mine = 0, theirs = 0]] of counts.entries())
      expect(mine + theirs, `after ${i + 1}`).toBe(ONE + REPORTS + 10 * i);
    expect(await followBoth()).toEqual(last);
  });

  test('when it is paused, and resumed before all have left', async () => {
    const { store, accountId } = await anUnclaimed();
    const { db } = store;
    const { id } = await aDomain(db, accountId, { name: NAME });
    await killed(updateDomainStatus(killedAfter(db, 1), id, 'paused', NOW));
    await receive(db, reportsOf(NAME, 10));
    const isDone = await finishListing(db, id, { mayGoOn: async () => false, atOnce: AT_ONCE });
    expect([isDone, await countListed(store, accountId)]).toEqual([false, REPORTS - AT_ONCE + ONE]);
    await killed(updateDomainStatus(killedAfter(db, 1), id, 'active', NOW));
    const client = new FeedClient(store.reader, accountId);
    const counts = await finish(store, [accountId], async () => {
      await receive(db, reportsOf(NAME, 1));
      await follow(client);
    });
    const all = REPORTS + 10 + (counts.length - 1) + ONE;
    expect(counts.at(-1)).toEqual([all]);
    expect([await follow(client), await follow(new FeedClient(store.reader, accountId))]).toEqual([
      all,
      all,
    ]);
  });

  test('and pausing a domain without reports leaves nothing to do', async () => {
    const { db } = await aStore();
    const { id } = await aDomain(db, await aBareAccount(db));
    await killed(updateDomainStatus(killedAfter(db, 1), id, 'paused', NOW));
    const waiting = db.selectFrom('domain').select('id').where('listing_from', 'is not', null);
    expect(await waiting.execute()).toEqual([]);
  });

  test('also when the listing of another domain fails', async () => {
    const { store, accountId } = await anUnclaimed();
    const { db } = store;
    await receive(db, reportsOf('b.example', 10));
    for (const name of [NAME, 'b.example'])
      await db.write((tx) => addDomain(tx, { accountId, name, now: NOW }, by));
    let isFirst = true;
    const write: Db['write'] = async (change) => {
      if (!isFirst) return await db.write(change);
      isFirst = false;
      throw new Error('Of the first domain.');
    };
    const listed = finishListings({ ...db, write }, async () => true);
    await expect(listed).rejects.toThrow('Of the first domain.');
    expect([10, REPORTS]).toContain((await countListed(store, accountId)) - ONE);
    await finishListings(db, async () => true);
    expect(await countListed(store, accountId)).toBe(REPORTS + 10 + ONE);
  });
});
