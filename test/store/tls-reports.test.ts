import { expect, test } from 'vitest';
import { findPolicies } from '../../src/domain/reports/tls-content.ts';
import { listPolicies } from '../../src/domain/reports/tls-policies.ts';
import { updateDomainStatus } from '../../src/store/domains/domains.ts';
import { removeDomain } from '../../src/store/domains/removed-domains.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { openFeed, readFeed } from '../../src/store/feed/feed.ts';
import { exportAccount } from '../../src/store/leaving/account-export.ts';
import { DOMAIN_ID } from '../../src/store/lists/heads.ts';
import { parseItems, readPage } from '../../src/store/lists/page.ts';
import { pruneReports } from '../../src/store/reports/aging/old-reports.ts';
import { preferConflict, removeReport } from '../../src/store/reports/corrections.ts';
import { listDocuments } from '../../src/store/reports/document-list.ts';
import { finishListings } from '../../src/store/reports/listing.ts';
import { reportsOf, reportsOfAccount } from '../../src/store/reports/reports.ts';
import { tlsReportsOf } from '../../src/store/reports/tls-reports.ts';
import { repair, verify } from '../../src/store/verify/verify.ts';
import { aBareAccount, aDomain, aReport, NOW, receive } from '../support/builders.ts';
import { takeIn } from '../support/ingest.ts';
import { aStore } from '../support/store.ts';
import {
  aPolicy,
  aReadPolicy,
  aReadTlsReport,
  aTlsReport,
  STS,
  SUMMARY,
} from '../support/tls-report.ts';

const ofDomains = (...names: string[]) =>
  names.map((name) => aPolicy({ policy: { ...STS, 'policy-domain': name } }));
const other = (successes: number) =>
  aTlsReport({
    policies: [aPolicy({ summary: { ...SUMMARY, 'total-successful-session-count': successes } })],
  });

const outcomesOf = async (store: Store, ...texts: string[]) => {
  const outcomes: string[] = [];
  for (const text of texts)
    outcomes.push(...(await takeIn(store, text, { name: 'x.json' })).map((one) => one.outcome));
  return outcomes;
};

const selectTls = ({ db }: Store) => db.selectFrom('report').selectAll().where('kind', '=', 'tls');
const countTls = async (store: Store) => (await selectTls(store).execute()).length;

/** All that a client of DMARC reports sees of the account, and the counts of its domain. */
async function whatClientsSee(store: Store, accountId: string, domainId: string) {
  const { reader, db } = store;
  const lists = [];
  for (const list of [reportsOf({ accountId, domainId }), reportsOfAccount(accountId)]) {
    const { items, total, version } = await readPage(reader, list, { limit: 100, offset: 0 });
    lists.push(items, total, version);
  }
  const feed = await readFeed(reader, { accountId, start: 'start', limit: 100 });
  const domain = await db
    .selectFrom('domain')
    .select(['reports_total', 'reports_version', 'reports_removed', 'last_report_at'])
    .select(['alerts_version', 'days_version'])
    .where('id', '=', domainId)
    .execute();
  const days = await db.selectFrom('domain_day').selectAll().execute();
  return { lists, items: feed?.items, domain, days };
}

async function aStoreWithDomain() {
  const store = await aStore();
  const accountId = await aBareAccount(store.db);
  const { id: domainId } = await aDomain(store.db, accountId, { name: 'example.com' });
  return { store, accountId, domainId };
}

const KEEP = { mayGoOn: async () => true };

test('a TLS report is stored once, its other contents are conflicts, and nobody’s is unclaimed', async () => {
  const { store } = await aStoreWithDomain();
  const reordered = JSON.stringify(
    Object.fromEntries(Object.entries(JSON.parse(aTlsReport())).reverse()),
  );
  expect(await outcomesOf(store, aTlsReport(), reordered, other(13), other(13))).toEqual([
    ...['stored', 'duplicate', 'conflict', 'conflict'],
  ]);
  expect(await outcomesOf(store, aTlsReport({ policies: ofDomains('other.example') }))).toEqual([
    'unclaimed',
  ]);
  const capitals = aTlsReport({ 'organization-name': 'EXAMPLE' });
  expect(await outcomesOf(store, capitals)).toEqual(['duplicate']);
  const [row] = await selectTls(store).where('reporter_org', '=', 'Example').execute();
  expect(row).toMatchObject({ total_messages: 13, aligned_messages: 12, record_count: 1 });
  expect(findPolicies(row?.content ?? new Uint8Array())).toMatchObject([{ mode: 'testing' }]);
});

test('a report without organisation is its contact’s, and one without id is what it says', async () => {
  const { store } = await aStoreWithDomain();
  const unnamed = { 'organization-name': null, 'report-id': null };
  const text = aTlsReport(unnamed);
  const sameDomain = aTlsReport({ ...unnamed, 'contact-info': 'other@reporter.example' });
  expect(await outcomesOf(store, text, text, sameDomain)).toEqual([
    'stored',
    'duplicate',
    'stored',
  ]);
});

test('a report of two domains is one of each, and each goes without the other', async () => {
  const { store, domainId } = await aStoreWithDomain();
  const text = aTlsReport({ policies: ofDomains('nobody.example', 'example.com') });
  expect(await outcomesOf(store, text)).toEqual(['unclaimed', 'stored']);
  expect(await outcomesOf(store, text)).toEqual(['duplicate', 'duplicate']);
  const seqs = (await selectTls(store).execute()).map((row) => row.document_seq);
  expect(new Set(seqs).size).toBe(2);
  await removeDomain(store.db, domainId, { deletesReports: true });
  expect(await countTls(store)).toBe(1);
});

test('lists, figures and changes of DMARC reports have none of it', async () => {
  const { store, accountId, domainId } = await aStoreWithDomain();
  await receive(store.db, [aReport({ domain: 'example.com' })]);
  const before = await whatClientsSee(store, accountId, domainId);
  await outcomesOf(store, aTlsReport(), other(13));
  expect(await whatClientsSee(store, accountId, domainId)).toEqual(before);
  expect(await Array.fromAsync(verify(store))).toEqual([]);
  const [stored] = await selectTls(store).execute();
  await removeReport(store.db, stored?.id ?? '', NOW);
  await removeReport(store.db, stored?.id ?? '', NOW);
  expect(await countTls(store)).toBe(0);
  expect(await whatClientsSee(store, accountId, domainId)).toEqual(before);
  expect(await outcomesOf(store, aTlsReport(), other(13))).toEqual(['removed', 'removed']);
});

test('another content can be preferred', async () => {
  const { store } = await aStoreWithDomain();
  await outcomesOf(store, aTlsReport(), other(13));
  const [conflict] = await store.db.selectFrom('conflict').select('seq').execute();
  await preferConflict(store.db, conflict?.seq ?? 0, NOW);
  const [row] = await selectTls(store).execute();
  expect(row).toMatchObject({ aligned_messages: 13, revision: 2 });
  const documents = await listDocuments(store.db, { limit: 10 });
  expect(documents).toMatchObject([{ outcome: 'conflict', domain: 'example.com' }]);
  expect(await Array.fromAsync(verify(store))).toEqual([]);
});

test('it goes by age where the domain has nothing else', async () => {
  const { store } = await aStoreWithDomain();
  await outcomesOf(store, aTlsReport());
  const prune = (before: string) => pruneReports(store.db, { before, ...KEEP });
  expect(await prune('2026-03-10')).toMatchObject({ count: 0 });
  expect(await countTls(store)).toBe(1);
  expect(await prune('2026-03-11')).toMatchObject({ count: 1 });
  expect(await countTls(store)).toBe(0);
});

test('it is its domain’s through pauses, and whoever adds the domain has it', async () => {
  const { store, domainId } = await aStoreWithDomain();
  await outcomesOf(store, aTlsReport(), aTlsReport({ policies: ofDomains('later.example') }));
  await updateDomainStatus(store.db, domainId, 'paused', NOW);
  await finishListings(store.db, KEEP.mayGoOn);
  await updateDomainStatus(store.db, domainId, 'active', NOW);
  await finishListings(store.db, KEEP.mayGoOn);
  const next = await aBareAccount(store.db);
  const { id } = await aDomain(store.db, next, { name: 'later.example' });
  await finishListings(store.db, KEEP.mayGoOn);
  const rows = await selectTls(store).select(DOMAIN_ID.as('domain_id')).orderBy('seq').execute();
  expect(rows.map((row) => [row.domain_id, row.account_seq, row.tls_account_seq])).toEqual([
    [domainId, null, 1],
    [id, null, 2],
  ]);
  expect(await Array.fromAsync(verify(store))).toEqual([]);
  expect(await Array.fromAsync(repair(store))).toEqual([]);
  expect(await countTls(store)).toBe(2);
});

test('an account’s export has its policies', async () => {
  const { store, accountId } = await aStoreWithDomain();
  await outcomesOf(store, aTlsReport());
  const lines: string[] = [];
  await exportAccount(store.reader, accountId, (line) => lines.push(line));
  const [report] = lines.map((line) => JSON.parse(line)).filter(({ table }) => table === 'report');
  expect(report).toMatchObject({
    kind: 'tls',
    content: [{ domain: 'example.com', successes: 12 }],
  });
});

const ALL = { limit: 100, offset: 0 };
const typesOf = (items: readonly string[] = []) => items.map((item) => JSON.parse(item).type);

test('its list and its feed have what comes, is corrected, believed and removed', async () => {
  const { store, accountId, domainId } = await aStoreWithDomain();
  const { db, reader } = store;
  const list = tlsReportsOf({ accountId, domainId });
  const read = async () => parseItems(await readPage(reader, list, ALL));
  await receive(db, [aReadTlsReport()], NOW, { authenticated: '' });
  const [unsigned] = await read();
  expect(unsigned).toMatchObject({
    ...{ domain_id: domainId, successful_sessions: 12, failed_sessions: 0, revision: 1 },
    ...{ authenticated: false, policies: [{ policy_type: 'sts', mode: 'testing' }] },
  });
  const { cursor: start = 'start' } =
    (await readFeed(reader, { accountId, start: 'start', limit: 100, hasTls: true })) ?? {};
  await receive(db, [aReadTlsReport()], NOW, { authenticated: 'google.com' });
  expect(await read()).toMatchObject([{ id: unsigned?.id, authenticated: true, revision: 2 }]);
  await removeReport(db, unsigned?.id ?? '', NOW);
  expect(await read()).toEqual([]);
  await receive(db, [aReadTlsReport({ reportId: 'two' })]);
  const told = await readFeed(reader, { accountId, start, limit: 100, hasTls: true });
  expect(typesOf(told?.items)).toEqual(['tls_report.removed', 'tls_report.stored']);
  expect(JSON.parse(told?.items[0] ?? '')).toMatchObject({ tls_report_id: unsigned?.id });
});

test('a client that does not ask for them is told that nothing is new', async () => {
  const { store, accountId } = await aStoreWithDomain();
  const { db, reader } = store;
  await receive(db, [aReport({ domain: 'example.com' })]);
  const first = await readFeed(reader, { accountId, start: 'start', limit: 100 });
  const at = { accountId, start: first?.cursor ?? ('start' as const), limit: 100 };
  await receive(db, [aReadTlsReport()]);
  const silent = await openFeed(reader, at);
  expect(silent?.version).toBe(first?.tag);
  const page = await silent?.read();
  expect([page?.items, page?.hasMore, page?.tag]).toEqual([[], false, first?.tag]);
  await receive(db, [aReport({ domain: 'example.com' })]);
  const start = page?.cursor ?? ('start' as const);
  for (const from of [at.start, start]) {
    const next = await openFeed(reader, { ...at, start: from });
    expect(next?.version).not.toBe(first?.tag);
    expect(typesOf((await next?.read())?.items)).toEqual(['report.stored']);
  }
});

test('what a list shows of its policies is bounded', () => {
  const hosts = Array.from({ length: 1_000 }, (_, i) => `mx${i}.${'a'.repeat(400)}.example`);
  const policies = Array.from({ length: 1_000 }, (_, i) =>
    aReadPolicy({ domain: `${i}.${'b'.repeat(400)}`, mxHosts: hosts, successes: i }),
  );
  const listed = listPolicies(policies);
  expect(listed.map((one) => one.successful_sessions)).toEqual([999]);
  expect(listed[0]?.mx_hosts).toHaveLength(20);
  expect(JSON.stringify(listed).length).toBeLessThan(8_000);
});
