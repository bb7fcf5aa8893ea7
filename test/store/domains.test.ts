import { describe, expect, test } from 'vitest';
import {
  domainsOf,
  insertDomain,
  insertDomains,
  listAllDomains,
  updateDomainStatus,
} from '../../src/store/domains/domains.ts';
import type { Reader } from '../../src/store/engine/reader.ts';
import type { Head } from '../../src/store/lists/heads.ts';
import { findHead, parseItems, readPage } from '../../src/store/lists/page.ts';
import { reportsOf } from '../../src/store/reports/reports.ts';
import {
  aBareAccount,
  aDomain,
  anAccount,
  aReport,
  NOW,
  receive,
  UNKNOWN_ID,
} from '../support/builders.ts';
import { aStore } from '../support/store.ts';

const WHOLE = { limit: 200, offset: 0 };

async function findDomainsHead(reader: Reader, accountId: string): Promise<Head> {
  return (await findHead(reader, domainsOf(accountId))) as Head;
}

describe('insertDomains', () => {
  test('each name of a file had a transaction: many have one, and a name that is refused changes nothing', async () => {
    const { db, reader } = await aStore();
    const [mine, theirs] = [await aBareAccount(db), await aBareAccount(db)];
    await aDomain(db, theirs, { name: 'taken.example' });
    await receive(db, [aReport({ domain: 'early.example' })]);
    let writes = 0;
    const counting: typeof db = {
      ...db,
      write: (change) => {
        writes += 1;
        return db.write(change);
      },
    };
    const names = ['b.example', 'taken.example', 'a.example', 'early.example', 'a.example'];
    const outcomes = await insertDomains(counting, { accountId: mine, names, now: NOW });
    expect(outcomes).toMatchObject([
      { name: 'b.example' },
      { code: 'conflict' },
      { name: 'a.example' },
      { name: 'early.example', reports_total: 1 },
      { code: 'conflict', message: 'The account has a.example already.' },
    ]);
    // The second one lists the report that came before.
    expect(writes).toBe(2);
    const listed = (await listAllDomains(db, mine)).map(({ name }) => name);
    expect(listed).toEqual(['a.example', 'b.example', 'early.example']);
    expect(await findDomainsHead(reader, mine)).toMatchObject({ total: 3 });
    const unlisted = db.selectFrom('report').select('id').where('account_seq', 'is', null);
    expect(await unlisted.execute()).toEqual([]);
    const audited = db.selectFrom('audit').select('subject').where('action', '=', 'domain_added');
    const own = await audited.where('account_id', '=', mine).orderBy('seq').execute();
    expect(own.map(({ subject }) => subject)).toEqual(['b.example', 'a.example', 'early.example']);
  });

  test('two accounts that add the same names in other orders, while reports come in, do not wait for each other', async () => {
    const { db } = await aStore();
    const accounts = [await aBareAccount(db), await aBareAccount(db)];
    const names = Array.from({ length: 20 }, (_, i) => `n${i}.example`);
    const adding = accounts.map((accountId, i) =>
      insertDomains(db, { accountId, names: i === 0 ? names : names.toReversed(), now: NOW }),
    );
    const reports = names.map((domain) => aReport({ domain }));
    const [first, second] = await Promise.all([...adding, receive(db, reports)]);
    const added = [first, second].flat().filter((one) => typeof one === 'object' && 'id' in one);
    expect(added).toHaveLength(20);
  });
});

describe('insertDomain', () => {
  test.each([
    ['Example.COM.', 'example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
  ])('stores %s as %s', async (name, stored) => {
    const { db } = await aStore();
    const accountId = await aBareAccount(db);
    expect((await insertDomain(db, { accountId, name, now: NOW })).name).toBe(stored);
  });

  test('rejects an invalid domain name, and stores nothing', async () => {
    const { db } = await aStore();
    const accountId = await aBareAccount(db);
    const adding = insertDomain(db, { accountId, name: 'localhost', now: NOW });
    await expect(adding).rejects.toMatchObject({ code: 'validation_error' });
    expect(await listAllDomains(db, accountId)).toEqual([]);
  });

  test('a name belongs to one account, whatever its spelling', async () => {
    const { db, reader } = await aStore();
    const [mine, theirs] = [await aBareAccount(db), await aBareAccount(db)];
    await aDomain(db, mine, { name: 'example.com' });
    const head = await findDomainsHead(reader, mine);
    for (const accountId of [mine, theirs]) {
      const adding = insertDomain(db, { accountId, name: 'EXAMPLE.com.', now: NOW });
      await expect(adding).rejects.toMatchObject({ code: 'conflict' });
    }
    expect(await findDomainsHead(reader, mine)).toEqual(head);
    expect(await listAllDomains(db, theirs)).toEqual([]);
  });

  test('of two accounts that add a name at the same time, one gets it', async () => {
    const { db } = await aStore();
    const [a, b] = [await aBareAccount(db), await aBareAccount(db)];
    const results = await Promise.allSettled(
      [a, b].map((accountId) => insertDomain(db, { accountId, name: 'example.com', now: NOW })),
    );
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  test('for an unknown account: rejected, and the name stays free', async () => {
    const { db } = await aStore();
    const adding = insertDomain(db, { accountId: UNKNOWN_ID, name: 'example.com', now: NOW });
    await expect(adding).rejects.toMatchObject({ code: 'not_found' });
    await aDomain(db, await aBareAccount(db), { name: 'example.com' });
  });

  test('claims earlier data: reports, totals and the time of the last one', async () => {
    const { db, reader } = await aStore();
    const accountId = await aBareAccount(db);
    const reports = [
      aReport({ domain: 'early.example', begin: '2026-03-13T00:00:00Z' }),
      aReport({ domain: 'early.example', begin: '2026-03-14T00:00:00Z' }),
    ];
    expect(await receive(db, reports, '2026-03-15T00:00:00Z')).toEqual(['unclaimed', 'unclaimed']);
    const domain = await insertDomain(db, { accountId, name: 'early.example', now: NOW });
    expect(domain.last_report_at).toBe('2026-03-15T00:00:00Z');
    const list = await readPage(reader, reportsOf({ domainId: domain.id, accountId }), WHOLE);
    expect([list.total, list.items.length]).toEqual([2, 2]);
    expect((await findDomainsHead(reader, accountId)).total).toBe(1);
    expect(await receive(db, [aReport({ domain: 'early.example' })])).toEqual(['stored']);
    const [known = aReport()] = reports;
    expect(await receive(db, [known])).toEqual(['duplicate']);
  });

  test('claiming changes only the list of the account that claims', async () => {
    const { db, reader } = await aStore();
    const [mine, theirs] = [await aBareAccount(db), await aBareAccount(db)];
    await receive(db, [aReport({ domain: 'early.example' })]);
    const before = [await findDomainsHead(reader, mine), await findDomainsHead(reader, theirs)];
    await aDomain(db, mine, { name: 'early.example' });
    expect((await findDomainsHead(reader, mine)).version).not.toBe(before[0]?.version);
    expect(await findDomainsHead(reader, theirs)).toEqual(before[1]);
  });
});

describe('updateDomainStatus', () => {
  test('counts active domains only, and repeating it changes nothing', async () => {
    const { db, reader } = await aStore();
    const accountId = await aBareAccount(db);
    const { id } = await aDomain(db, accountId);
    await updateDomainStatus(db, id, 'paused');
    const paused = await findDomainsHead(reader, accountId);
    expect(paused.total).toBe(0);
    expect((await updateDomainStatus(db, id, 'paused')).status).toBe('paused');
    expect(await findDomainsHead(reader, accountId)).toEqual(paused);
    await updateDomainStatus(db, id, 'active');
    const active = await readPage(reader, domainsOf(accountId), WHOLE);
    expect([active.total, parseItems(active).map((domain) => domain.id)]).toEqual([1, [id]]);
  });

  test('of an unclaimed or unknown domain: not found', async () => {
    const { db } = await aStore();
    await receive(db, [aReport({ domain: 'nobody.example' })]);
    const { id } = await db.selectFrom('domain').select('id').executeTakeFirstOrThrow();
    for (const domainId of [id, UNKNOWN_ID]) {
      const pausing = updateDomainStatus(db, domainId, 'paused');
      await expect(pausing).rejects.toMatchObject({ code: 'not_found' });
    }
  });
});

describe('a list of another account', () => {
  test('cannot be read with the domain’s id', async () => {
    const { db, reader } = await aStore();
    const [mine, theirs] = [await anAccount(db), await anAccount(db)];
    const { id: domainId } = await aDomain(db, theirs.id);
    const readHead = (accountId: string) => findHead(reader, reportsOf({ domainId, accountId }));
    expect(await readHead(mine.id)).toBeUndefined();
    expect(await readHead(theirs.id)).toBeDefined();
  });
});
