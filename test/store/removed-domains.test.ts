import { expect, test } from 'vitest';
import { alertsOf } from '../../src/store/alerts/alert-list.ts';
import { fireAlert } from '../../src/store/alerts/alerts.ts';
import { updateRouteCheck } from '../../src/store/alerts/dns-records.ts';
import { updateMark } from '../../src/store/days/marks.ts';
import {
  domainsOf,
  updateDomainStatus,
  updateSendsNoMail,
} from '../../src/store/domains/domains.ts';
import { findDomain } from '../../src/store/domains/overview.ts';
import { removeDomain } from '../../src/store/domains/removed-domains.ts';
import type { Db } from '../../src/store/engine/database.ts';
import { listAudit } from '../../src/store/events/audit.ts';
import { readFeed } from '../../src/store/feed/feed.ts';
import {
  type FollowedHead,
  findFollowedHead,
  readFollowedPage,
} from '../../src/store/lists/followed.ts';
import { findHead, parseItems, readPage } from '../../src/store/lists/page.ts';
import { reportsOf } from '../../src/store/reports/reports.ts';
import {
  aBareAccount,
  aDomain,
  anAlert,
  aReport,
  NOW,
  receive,
  UNKNOWN_ID,
} from '../support/builders.ts';
import { aStore } from '../support/store.ts';

const WHOLE = { limit: 200, offset: 0 };

test('the number of a domain that was deleted is never given again', async () => {
  const { db } = await aStore();
  const accountId = await aBareAccount(db);
  const { id } = await aDomain(db, accountId);
  const numbers = db.selectFrom('domain').select('seq');
  const [deleted] = await numbers.execute();
  await removeDomain(db, id, { deletesReports: true });
  expect(await numbers.execute()).toEqual([]);
  await aDomain(db, accountId);
  expect((await numbers.executeTakeFirstOrThrow()).seq).toBeGreaterThan(deleted?.seq ?? 0);
});

test('a removed domain leaves its account with its alerts, marks and checks; its reports are the next account’s', async () => {
  const { db, reader } = await aStore();
  const [mine, theirs] = [await aBareAccount(db), await aBareAccount(db)];
  const { id: domainId } = await aDomain(db, mine, { name: 'example.com' });
  const kept = await aDomain(db, mine, { name: 'kept.example' });
  await receive(db, [aReport()]);
  const by = { name: 'you@example.com', accountId: mine, address: null, at: NOW };
  await updateMark(db, { domainId, subject: 'scattered', mark: 'unknown' }, by);
  await updateSendsNoMail(db, { domainId, sendsNoMail: true }, by);
  await updateRouteCheck(db, domainId, { checkedAt: NOW, findings: [] });
  await anAlert(db, { accountId: mine, domainId });
  const list = alertsOf({ accountId: mine, domainId: undefined });
  const { cursor } = (await findFollowedHead(reader, list, 'start')) as FollowedHead;
  await anAlert(db, { accountId: mine, domainId: kept.id });
  await anAlert(db, { accountId: mine, domainId }, { resolvedAt: NOW });
  const before = await findHead(reader, domainsOf(mine));

  expect((await removeDomain(db, domainId)).name).toBe('example.com');

  const domains = await readPage(reader, domainsOf(mine), WHOLE);
  expect([domains.total, parseItems(domains).map(({ domain }) => domain)]).toEqual([
    1,
    ['kept.example'],
  ]);
  expect(domains.version).not.toBe(before?.version);
  expect(await findHead(reader, reportsOf({ accountId: mine, domainId }))).toBeUndefined();
  const alerts = await readPage(reader, list, WHOLE);
  expect(alerts.total).toBe(1);
  expect(parseItems(alerts).map((alert) => alert.domain_id)).toEqual([kept.id]);
  expect(await findFollowedHead(reader, list, cursor)).toBe('expired');
  const head = (await findFollowedHead(reader, list, 'start')) as FollowedHead;
  const page = await readFollowedPage(reader, list, { start: 'start', page: WHOLE, head });
  if (typeof page === 'string') throw new Error(page);
  expect(page.total).toBe(1);
  expect(page.items.map((item) => JSON.parse(item).domain_id)).toEqual([kept.id]);
  for (const table of ['source_mark', 'dns_record'] as const)
    expect(await db.selectFrom(table).select('domain_id').execute()).toEqual([]);
  const [entry] = await listAudit(db, mine, { limit: 1 });
  expect(entry).toMatchObject({
    action: 'domain_removed',
    actor: 'operator',
    subject: 'example.com',
  });

  await aDomain(db, theirs, { name: 'example.com' });
  const scope = { accountId: theirs, domainId };
  expect(await findDomain(reader, scope)).toMatchObject({ sends_no_mail: 0, tls_version: null });
  expect((await readPage(reader, reportsOf(scope), WHOLE)).total).toBe(1);
  expect((await readPage(reader, alertsOf(scope), WHOLE)).items).toEqual([]);
  await anAlert(db, scope);
  expect((await readPage(reader, alertsOf(scope), WHOLE)).total).toBe(1);
});

test('a domain with more alerts than one transaction deletes is removed with all of them', async () => {
  const { db, reader } = await aStore();
  const accountId = await aBareAccount(db);
  const { id: domainId } = await aDomain(db, accountId);
  const days = ['2026-03-01', '2026-03-02', '2026-03-03'];
  await db.write(async (tx) => {
    for (let i = 0; i < 103; i++) {
      const alert = { accountId, domainId, type: 'alert.reports_missing', context: {} };
      await fireAlert(tx, { ...alert, firedAt: `${days[i % 3]}T00:00:00Z` });
    }
  });
  await removeDomain(db, domainId);
  const list = alertsOf({ accountId, domainId: undefined });
  expect((await readPage(reader, list, WHOLE)).total).toBe(0);
  expect(await db.selectFrom('alert').select('id').execute()).toEqual([]);
  expect(await db.selectFrom('list_day').select('items').execute()).toEqual([]);
});

test('cursors of a removed domain’s alerts end, also for the account that adds it again', async () => {
  const { db, reader } = await aStore();
  const accountId = await aBareAccount(db);
  const { id: domainId, name } = await aDomain(db, accountId);
  const scope = { accountId, domainId };
  const list = alertsOf(scope);
  await anAlert(db, scope, { resolvedAt: NOW });
  const { cursor } = (await findFollowedHead(reader, list, 'start')) as FollowedHead;
  await removeDomain(db, domainId);
  const newest = await readFeed(reader, { accountId, start: 'start', limit: 1 });
  expect(await findFollowedHead(reader, list, cursor)).toBe('no_list');
  await aDomain(db, accountId, { name });
  await anAlert(db, scope, { resolvedAt: NOW });
  for (const start of [cursor, { ...cursor, ...newest?.cursor, key: cursor.key }])
    expect(await findFollowedHead(reader, list, start)).toBe('expired');
  expect(await findFollowedHead(reader, list, 'start')).toMatchObject({ total: 1 });
});

test('whoever adds a removed domain gets it active, and the list of a paused one does not change', async () => {
  const { db, reader } = await aStore();
  const accountId = await aBareAccount(db);
  const { id } = await aDomain(db, accountId, { name: 'example.com', status: 'paused' });
  const head = await findHead(reader, domainsOf(accountId));
  await removeDomain(db, id);
  expect(await findHead(reader, domainsOf(accountId))).toEqual(head);
  await aDomain(db, accountId, { name: 'example.com' });
  expect((await updateDomainStatus(db, id, 'active')).status).toBe('active');
  expect(await findHead(reader, domainsOf(accountId))).toMatchObject({ total: 1 });
});

test('of an unclaimed or unknown domain: not found', async () => {
  const { db } = await aStore();
  await receive(db, [aReport()]);
  const { id } = await db.selectFrom('domain').select('id').executeTakeFirstOrThrow();
  for (const domainId of [id, UNKNOWN_ID])
    await expect(removeDomain(db, domainId)).rejects.toMatchObject({ code: 'not_found' });
});

test('its reports stay when another account gets it while they are deleted', async () => {
  const { db } = await aStore();
  const [mine, theirs] = [await aBareAccount(db), await aBareAccount(db)];
  const { id } = await aDomain(db, mine, { name: 'example.com' });
  await receive(
    db,
    Array.from({ length: 150 }, () => aReport()),
  );
  let deletions = 0;
  const write: Db['write'] = async (change) => {
    const before = await countReports(db);
    const result = await db.write(change);
    if ((await countReports(db)) < before && ++deletions === 1) {
      await removeDomain(db, id);
      await aDomain(db, theirs, { name: 'example.com' });
    }
    return result;
  };
  const removed = removeDomain({ ...db, write }, id, { deletesReports: true });
  await expect(removed).rejects.toMatchObject({ code: 'not_found' });
  expect([await countReports(db), deletions]).toEqual([50, 1]);
});

test('a day that has lost its reports does not stop it', async () => {
  const { db } = await aStore();
  const { id } = await aDomain(db, await aBareAccount(db), { name: 'example.com' });
  await receive(db, [aReport()]);
  const day = {
    domain_id: id,
    day: '2020-01-01',
    belief: 'other' as const,
    reports: 1,
    messages: 1,
    aligned: 1,
  };
  await db.write((tx) => tx.insertInto('domain_day').values(day).execute());
  await removeDomain(db, id, { deletesReports: true });
  expect(await db.selectFrom('domain').select('id').execute()).toEqual([]);
});

async function countReports(db: Db): Promise<number> {
  const reports = db.selectFrom('report').select(({ fn }) => fn.countAll<number>().as('count'));
  return Number((await reports.executeTakeFirstOrThrow()).count);
}
