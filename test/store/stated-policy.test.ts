import { describe, expect, test } from 'vitest';
import { toPolicyTags } from '../../src/domain/dns/dns-record.ts';
import type { Belief } from '../../src/domain/reports/authentication.ts';
import type { Db } from '../../src/store/engine/database.ts';
import { pruneReports } from '../../src/store/reports/aging/old-reports.ts';
import { preferAuthenticated } from '../../src/store/reports/authenticated.ts';
import { preferConflict, removeReport } from '../../src/store/reports/corrections.ts';
import { repair, verify } from '../../src/store/verify/verify.ts';
import { aBareAccount, aDomain, aReport, NOW, receive } from '../support/builders.ts';
import { aStore } from '../support/store.ts';

const BY_STRANGER = { authenticated: '' };

async function aDomainWithout() {
  const store = await aStore();
  await aDomain(store.db, await aBareAccount(store.db), { name: 'example.com' });
  /** What established reporters state of each day, or others; a recount agrees. */
  const policies = async (belief: Belief = 'established') => {
    expect(await Array.fromAsync(verify(store))).toEqual([]);
    const rows = store.db.selectFrom('domain_day').select('policy').where('belief', '=', belief);
    return (await rows.orderBy('day').execute()).map(({ policy }) => policy);
  };
  return { store, db: store.db, policies };
}

/** A day whose first report states `p=none`, whose second states nothing, and whose last states `p=reject`. */
async function aDay() {
  const domain = await aDomainWithout();
  for (const [i, p] of ['none', null, 'reject'].entries())
    await receive(domain.db, [aReport({ reportId: `r${i}`, policy: { p } })]);
  return domain;
}

const findReport = (db: Db, reportId: string) =>
  db
    .selectFrom('report')
    .select(['id', 'payload_sha256'])
    .where('report_id', '=', reportId)
    .executeTakeFirstOrThrow();

test('a day has the policy that its last report stated, unless its mail was not authenticated', async () => {
  const { db, policies } = await aDomainWithout();
  await receive(db, [aReport({ policy: { p: 'none' } })]);
  expect(await policies()).toEqual(['p=none']);
  await receive(db, [aReport({ policy: { p: 'QUARANTINE', sp: 'none', pct: 20 } })]);
  expect(await policies()).toEqual(['p=quarantine; sp=none; pct=20']);
  await receive(db, [aReport({ policy: { p: null } })]);
  expect(await policies()).toEqual(['p=quarantine; sp=none; pct=20']);
  await receive(db, [aReport({ policy: { p: 'reject' } })], NOW, BY_STRANGER);
  expect(await policies()).toEqual(['p=quarantine; sp=none; pct=20']);
  expect(await policies('other')).toEqual(['p=reject']);
});

describe('a day does not state what only a report said', () => {
  test('that an operator removed', async () => {
    const { db, policies } = await aDay();
    expect(await policies()).toEqual(['p=reject']);
    await removeReport(db, (await findReport(db, 'r2')).id, NOW);
    expect(await policies()).toEqual(['p=none']);
    await removeReport(db, (await findReport(db, 'r0')).id, NOW);
    expect(await policies()).toEqual([null]);
  });

  test('whose content was exchanged, also for one that nobody authenticated', async () => {
    const { db, policies } = await aDay();
    const other = aReport({ reportId: 'r2', policy: { p: 'quarantine' }, payload: 'other' });
    await receive(db, [other], NOW, BY_STRANGER);
    expect(await policies()).toEqual(['p=reject']);
    const { seq } = await db.selectFrom('conflict').select('seq').executeTakeFirstOrThrow();
    await preferConflict(db, seq);
    expect(await policies()).toEqual(['p=none']);
    await preferConflict(db, seq);
    expect(await policies()).toEqual(['p=reject']);
  });

  test('that was pruned while others of the day are left', async () => {
    const { store, db, policies } = await aDomainWithout();
    const noon = { begin: '2026-03-14T12:00:00Z', policy: { p: 'none' } };
    await receive(
      db,
      Array.from({ length: 101 }, () => aReport(noon)),
    );
    await receive(db, [aReport({ policy: { p: 'reject' } })]);
    await receive(db, [aReport({ begin: '2026-03-20T00:00:00Z', policy: { p: 'reject' } })]);
    expect(await policies()).toEqual(['p=reject', 'p=reject']);
    let times = 1;
    const mayGoOn = async () => times-- > 0;
    const pruned = await pruneReports(db, { before: '2026-03-20', mayGoOn });
    expect(pruned.count).toBe(100);
    expect(await policies()).toEqual(['p=none', 'p=reject']);
    expect(await Array.fromAsync(repair(store))).toEqual([]);
  });
});

test('a day states what a report says once its sender is known', async () => {
  const { db, policies } = await aDay();
  await receive(db, [aReport({ reportId: 'r3', policy: { p: 'quarantine' } })], NOW, BY_STRANGER);
  expect(await policies()).toEqual(['p=reject']);
  const { id, payload_sha256 } = await findReport(db, 'r3');
  const payloadSha256 = Buffer.from(payload_sha256).toString('hex');
  await preferAuthenticated(db, { id, payloadSha256, authenticated: 'google.com' }, NOW);
  expect(await policies()).toEqual(['p=quarantine']);
});

test.each([
  [{ p: 'block', sp: 'none' }, null],
  [{ p: 'reject', testing: 'y', pct: 100 }, 'p=reject; t=y'],
  [{ p: 'reject', sp: 'x'.repeat(500), pct: -5 }, 'p=reject'],
])('%j', (stated, wanted) => {
  const policy = { sp: null, np: null, pct: null, testing: null, ...stated };
  expect(toPolicyTags(policy)).toBe(wanted);
});
