import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { receiveInputs } from '../../../../scripts/receive.ts';
import { Refusal } from '../../../../src/domain/reports/refusal.ts';
import { removeDomain } from '../../../../src/store/domains/removed-domains.ts';
import type { Db } from '../../../../src/store/engine/database.ts';
import { operator } from '../../../../src/store/events/audit.ts';
import {
  type FollowedHead,
  findFollowedHead,
  readFollowedPage,
} from '../../../../src/store/lists/followed.ts';
import { toShare, trimUnclaimed } from '../../../../src/store/reports/aging/unclaimed.ts';
import { reportsOf } from '../../../../src/store/reports/reports.ts';
import { aBareAccount, aDomain, aReport } from '../../../support/builders.ts';
import { listMiscounts } from '../../../support/recount.ts';
import { aStore } from '../../../support/store.ts';

const KIB = 1024;
const TODAY = new Date().toISOString().slice(0, 10);
const DAY_MS = 86_400_000;
const daysAgo = (days: number) =>
  `${new Date(Date.parse(TODAY) - days * DAY_MS).toISOString().slice(0, 10)}T12:00:00Z`;

let count = 0;
/** Reports of a domain with an original of so many bytes, as if each had come on its own. */
async function receiveSized(
  db: Db,
  domain: string,
  { bytes = 100, days = 0, reports = 1, payload = undefined as string | undefined } = {},
): Promise<void> {
  for (let i = 0; i < reports; i += 1) {
    count += 1;
    const content = aReport({
      domain,
      reportId: payload === undefined ? `r-${count}` : 'same',
      ...(payload && { payload }),
    });
    const documents = [{ member: [], content }];
    const input = {
      name: `${count}`,
      bytes: Buffer.concat([Buffer.from('PK'), randomBytes(bytes)]),
      documents,
    };
    await receiveInputs(db, [input], daysAgo(days));
  }
}

const trim = (db: Db, { bytes = 500 * KIB, days = 90 } = {}) =>
  trimUnclaimed(db, { bytes, days, mayGoOn: async () => true });

const listReports = async (db: Db) => {
  const rows = await db
    .selectFrom('report')
    .innerJoin('domain', 'domain.seq', 'report.domain_seq')
    .select('domain.name')
    .select(sql<string>`cast(report.received_at as text)`.as('at'))
    .orderBy('domain.name')
    .orderBy('report.received_at')
    .execute();
  return rows.map(({ name, at }) => `${name} ${at.slice(0, 10)}`);
};

const countAll = async (
  db: Db,
  table: 'document' | 'document_part' | 'conflict' | 'domain' | 'rejection',
) => {
  const { rows } = await db.write((tx) =>
    sql<{ n: number }>`select count(*) as n from ${sql.table(table)}`.execute(tx),
  );
  return Number(rows[0]?.n);
};

describe('reports of domains that no account has', () => {
  test('go by days, with everything that was stored of them', async () => {
    const { db } = await aStore();
    await receiveSized(db, 'old.example', { days: 91 });
    await receiveSized(db, 'both.example', { days: 120, bytes: 3_000 * KIB });
    await receiveSized(db, 'both.example', { days: 89 });
    await aDomain(db, await aBareAccount(db), { name: 'claimed.example' });
    await receiveSized(db, 'claimed.example', { days: 400 });
    expect(await trim(db, { bytes: 10_000 * KIB })).toBe(true);
    expect((await listReports(db)).map((one) => one.split(' ')[0])).toEqual([
      'both.example',
      'claimed.example',
    ]);
    expect([await countAll(db, 'document'), await countAll(db, 'document_part')]).toEqual([2, 0]);
    expect(await countAll(db, 'domain')).toBe(2);
    expect(await listMiscounts(db)).toEqual({});
  });

  test('go by bytes: those of the organisation with the most, the oldest first, whichever of its domains', async () => {
    const { db } = await aStore();
    await receiveSized(db, 'good.example', { days: 50, reports: 5 });
    for (const days of [30, 20, 10])
      for (const name of ['evil.test', 'a.evil.test'])
        await receiveSized(db, name, { days, bytes: 100 * KIB });
    await trim(db, { bytes: 330 * KIB });
    const left = await listReports(db);
    expect(left.filter((one) => one.startsWith('good.example'))).toHaveLength(5);
    const evil = left.filter((one) => one.includes('evil.test')).map((one) => one.split(' ')[1]);
    expect(evil.sort()).toEqual([20, 10, 10].map((days) => daysAgo(days).slice(0, 10)));
    expect(await listMiscounts(db)).toEqual({});
  });

  test('with 60 names below one organisation do not push out those of others', async () => {
    const { db } = await aStore();
    await receiveSized(db, 'good.example', { days: 80, bytes: 90 * KIB });
    for (let i = 0; i < 60; i += 1) await receiveSized(db, `n${i}.evil.test`, { bytes: 5 * KIB });
    await trim(db, { bytes: 200 * KIB });
    expect((await listReports(db))[0]).toContain('good.example');
    expect(await countAll(db, 'domain')).toBeLessThan(20);
  });

  test('of many organisations with as much each go only as far as needed', async () => {
    const { db } = await aStore();
    for (let i = 0; i < 20; i += 1)
      await receiveSized(db, `d${i}.example`, { days: i, bytes: 8 * KIB });
    await trim(db, { bytes: 19 * 10 * KIB });
    const names = (await listReports(db)).map((one) => one.split(' ')[0]);
    expect(names.length).toBeGreaterThan(15);
    expect(names).not.toContain('d19.example');
  });

  test('count with their conflicts, which go with them', async () => {
    const { db } = await aStore();
    for (const payload of ['a', 'b', 'c'])
      await receiveSized(db, 'evil.test', { payload, days: 3, bytes: 100 * KIB });
    expect(await countAll(db, 'conflict')).toBe(2);
    expect(await listMiscounts(db)).toEqual({});
    await trim(db, { bytes: 310 * KIB });
    expect(await countAll(db, 'document')).toBe(3);
    await trim(db, { bytes: 290 * KIB });
    expect([await countAll(db, 'document'), await countAll(db, 'conflict')]).toEqual([0, 0]);
  });

  test('leave a list that an account can follow from its beginning', async () => {
    const store = await aStore();
    const { db } = store;
    for (const days of [95, 94, 3, 2]) await receiveSized(db, 'late.example', { days });
    await trim(db);
    const accountId = await aBareAccount(db);
    const { id: domainId } = await aDomain(db, accountId, { name: 'late.example' });
    const list = reportsOf({ domainId, accountId });
    const head = await findFollowedHead(store.reader, list, 'start');
    expect(head).toMatchObject({ total: 2 });
    const page = { limit: 10, offset: 0 };
    const read = { start: 'start', page, head: head as FollowedHead } as const;
    expect(await readFollowedPage(store.reader, list, read)).toMatchObject({
      items: { length: 2 },
    });
  });

  test('stay for as many days after an account had the domain', async () => {
    const { db } = await aStore();
    const { id } = await aDomain(db, await aBareAccount(db), { name: 'had.example' });
    await receiveSized(db, 'had.example', { reports: 2, bytes: 50 * KIB, days: 300 });
    await removeDomain(db, id, { by: operator(daysAgo(80)) });
    await trim(db, { bytes: 10 * KIB });
    expect(await listReports(db)).toHaveLength(2);
    await trim(db, { days: 79 });
    expect(await listReports(db)).toEqual([]);
  });

  test('stay when an account has got the domain meanwhile, however many they are', async () => {
    const { db } = await aStore();
    await receiveSized(db, 'late.example', { reports: 3, bytes: 50 * KIB, days: 200 });
    await aDomain(db, await aBareAccount(db), { name: 'late.example' });
    await trim(db, { bytes: KIB });
    expect(await listReports(db)).toHaveLength(3);
  });
});

describe('rejected documents', () => {
  test('go by days and bytes, the oldest first', async () => {
    const { db } = await aStore();
    for (const days of [100, 5, 4, 3]) {
      const documents = [{ member: [], content: new Refusal('bad_xml', `${days}`) }];
      const bytes = Buffer.concat([Buffer.from('PK'), randomBytes(100 * KIB)]);
      await receiveInputs(db, [{ name: 'x', bytes, documents }], daysAgo(days));
    }
    await trim(db);
    expect(await countAll(db, 'rejection')).toBe(3);
    await trim(db, { bytes: 220 * KIB });
    const rows = await db
      .selectFrom('rejection')
      .select('message')
      .orderBy('document_seq')
      .execute();
    expect(rows.map(({ message }) => message)).toEqual(['4', '3']);
    expect(await countAll(db, 'document')).toBe(2);
  });
});

test.each([
  [[1, 2, 3], 6, Number.POSITIVE_INFINITY],
  [[1, 2, 9], 6, 3],
  [[9, 9, 9], 9, 3],
  [[1, 9, 9], 9, 4],
  [[], 9, Number.POSITIVE_INFINITY],
])('%j bytes that have place in %i get a share of %d', (sizes, bytes, share) => {
  expect(toShare(sizes, bytes)).toBe(share);
});
