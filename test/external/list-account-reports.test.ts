import { beforeEach, describe, expect, test } from 'vitest';
import { toReportId } from '../../src/domain/reports/report-identity.ts';
import { leaveAccountList } from '../../src/store/account-reports/membership.ts';
import { insertDomain, updateDomainStatus } from '../../src/store/accounts/domains.ts';
import { removeDomain } from '../../src/store/accounts/removed-domains.ts';
import { pruneReports } from '../../src/store/reports/aging/old-reports.ts';
import { preferConflict, removeReport } from '../../src/store/reports/corrections.ts';
import { joinDomains } from '../../src/store/reports/listing.ts';
import { type Answer, type Api, serveApi } from '../support/api.ts';
import {
  aDomain,
  anAccount,
  aReport,
  NOW,
  receive,
  type TestAccount,
} from '../support/builders.ts';
import { listMiscounts } from '../support/recount.ts';

const PATH = '/v1/external/reports';
let api: Api;
let account: TestAccount;

beforeEach(async () => {
  api = await serveApi();
  account = await anAccount(api.db);
});

const read = (query = '', { key } = account) => api.get(`${PATH}${query}`, { key });
const cursorOf = ({ headers }: Answer) => headers['plumbline-cursor'] as string;
const messagesOf = ({ body }: Answer): number[] =>
  body.data.map((report: { total_messages: number }) => report.total_messages);

/** Stores a report, which has a number of messages of its own. */
const receiveOne = (domain: string, totalMessages: number, begin: string) =>
  receive(api.db, [aReport({ domain, totalMessages, begin: `${begin}T00:00:00Z` })]);

/** Three reports of two domains. */
async function twoDomains() {
  const domains = [await aDomain(api.db, account.id), await aDomain(api.db, account.id)] as const;
  const [a, b] = domains.map(({ name }) => name) as [string, string];
  await receiveOne(a, 1, '2026-03-10');
  await receiveOne(b, 2, '2026-03-12');
  await receiveOne(a, 3, '2026-03-10');
  return domains;
}

describe('GET /v1/external/reports', () => {
  test('has a report as the list of its domain has it, and its domain', async () => {
    const { id, name } = await aDomain(api.db, account.id);
    const report = aReport({ domain: name });
    await receive(api.db, [report]);
    const own = await api.get(`/v1/external/domains/${id}/reports`, { key: account.key });
    const [listed] = (await read()).body.data;
    expect(listed).toStrictEqual({ ...own.body.data[0], domain_id: id });
    expect(listed.id).toBe(toReportId(report));
  });

  test('lists those of all domains, newest window first, then latest arrival, by pages', async () => {
    await twoDomains();
    expect(messagesOf(await read())).toEqual([2, 3, 1]);
    const page = await read('?limit=1&offset=1');
    expect([messagesOf(page), page.body.total]).toEqual([[3], 3]);
    expect((await read('?offset=3')).body).toEqual({ data: [], total: 3 });
  });

  test('of another account has none of them', async () => {
    await twoDomains();
    expect((await read('', await anAccount(api.db))).body).toEqual({ data: [], total: 0 });
  });

  test('has those that came before a domain was added, and after it was resumed; none of a paused or removed one', async () => {
    await receiveOne('late.example', 4, '2026-03-11');
    const [a, b] = await twoDomains();
    const late = await aDomain(api.db, account.id, { name: 'late.example' });
    expect(messagesOf(await read())).toEqual([2, 4, 3, 1]);
    await updateDomainStatus(api.db, a.id, 'paused');
    await receiveOne(a.name, 5, '2026-03-13');
    expect(messagesOf(await read())).toEqual([2, 4]);
    await removeDomain(api.db, b.id);
    expect(messagesOf(await read())).toEqual([4]);
    await updateDomainStatus(api.db, a.id, 'active');
    expect(messagesOf(await read())).toEqual([5, 4, 3, 1]);
    await removeDomain(api.db, late.id);
    const other = await anAccount(api.db);
    await aDomain(api.db, other.id, { name: 'late.example' });
    expect(messagesOf(await read('', other))).toEqual([4]);
    expect(messagesOf(await read())).toEqual([5, 3, 1]);
    expect(await listMiscounts(api.db)).toEqual({});
  });

  test('has none that came for a domain that was paused before its first report', async () => {
    const { id, name } = await aDomain(api.db, account.id);
    await updateDomainStatus(api.db, id, 'paused');
    await receiveOne(name, 1, '2026-03-10');
    expect((await read()).body).toEqual({ data: [], total: 0 });
    const other = await aDomain(api.db, account.id);
    await receiveOne(other.name, 2, '2026-03-10');
    expect(messagesOf(await read())).toEqual([2]);
    await updateDomainStatus(api.db, id, 'active');
    expect(messagesOf(await read())).toEqual([2, 1]);
  });

  test('of a domain with thousands of reports can be followed after it was resumed, in their order', async () => {
    const { id, name: domain } = await aDomain(api.db, account.id);
    const reports = Array.from({ length: 2_300 }, (_, i) => aReport({ domain, totalMessages: i }));
    await receive(api.db, reports);
    await updateDomainStatus(api.db, id, 'paused');
    await updateDomainStatus(api.db, id, 'active');
    const met: number[] = [];
    let answer = await read('?limit=200&received_after=start');
    for (; answer.body.data.length > 0; ) {
      expect(answer.body.total).toBe(2_300 - met.length);
      met.push(...messagesOf(answer));
      answer = await read(`?limit=200&received_after=${cursorOf(answer)}`);
    }
    expect(met).toEqual(reports.map((_, i) => i));
  });
});

describe('a domain with more reports than one transaction joins', () => {
  const late = 'late.example';
  const add = (accountId = account.id) =>
    insertDomain(api.db, { accountId, name: late, now: NOW, joinAtOnce: 2 });
  const joinSome = () => joinDomains(api.db, async () => false, 2);
  const joinAll = () => joinDomains(api.db, async () => true, 2);

  beforeEach(async () => {
    for (const messages of [1, 2, 3, 4, 5]) await receiveOne(late, messages, '2026-03-10');
    await receiveOne(late, 6, '2026-03-12');
    const { name } = await aDomain(api.db, account.id);
    await receiveOne(name, 10, '2026-03-11');
  });

  test('has none of them in the list until all are, with what came and was corrected meanwhile', async () => {
    const wrong = { domain: late, reportId: 'r', begin: '2026-03-09T00:00:00Z' };
    await receive(api.db, [aReport({ ...wrong, totalMessages: 7, payload: 'wrong' })]);
    await receive(api.db, [aReport({ ...wrong, totalMessages: 8, payload: 'right' })]);
    const cursor = cursorOf(await read());
    const { id } = await add();
    await receiveOne(late, 9, '2026-03-13');
    const { seq } = await api.db.selectFrom('conflict').select('seq').executeTakeFirstOrThrow();
    await preferConflict(api.db, seq);
    for (let done = false; !done; done = await joinSome()) {
      expect(messagesOf(await read())).toEqual([10]);
      expect((await read(`?received_after=${cursor}`)).body).toEqual({ data: [], total: 0 });
      expect(await listMiscounts(api.db)).toEqual({});
    }
    expect(messagesOf(await read())).toEqual([9, 6, 10, 5, 4, 3, 2, 1, 8]);
    expect(messagesOf(await read(`?received_after=${cursor}`))).toEqual([1, 2, 3, 4, 5, 6, 9, 8]);
    const own = await api.get(`/v1/external/domains/${id}/reports`, { key: account.key });
    expect(messagesOf(own)).toEqual([9, 6, 5, 4, 3, 2, 1, 8]);
    // No page looks up the domain of each report any more.
    const accounts = api.db.selectFrom('account').select('list_has_others');
    expect(await accounts.execute()).toEqual([{ list_has_others: 0 }]);
    expect(await listMiscounts(api.db)).toEqual({});
  });

  test('joins when it is resumed, if it was paused meanwhile', async () => {
    const { id } = await add();
    await updateDomainStatus(api.db, id, 'paused');
    await joinAll();
    expect(messagesOf(await read())).toEqual([10]);
    await updateDomainStatus(api.db, id, 'active');
    expect(messagesOf(await read())).toEqual([6, 10, 5, 4, 3, 2, 1]);
    expect(await listMiscounts(api.db)).toEqual({});
  });

  test('is whole in the list of the account that has it in the end, if another had it first', async () => {
    const { id } = await add();
    await joinSome();
    await removeDomain(api.db, id);
    const other = await anAccount(api.db);
    await add(other.id);
    await joinAll();
    expect(messagesOf(await read('', other))).toEqual([6, 5, 4, 3, 2, 1]);
    expect(messagesOf(await read())).toEqual([10]);
    await removeDomain(api.db, id);
    await add();
    await joinAll();
    expect(messagesOf(await read())).toEqual([6, 10, 5, 4, 3, 2, 1]);
    expect(messagesOf(await read('', other))).toEqual([]);
    expect(await listMiscounts(api.db)).toEqual({});
  });
});

test('rows that a killed process left behind when a domain left the list are read by nobody, and go with the next', async () => {
  const [a, b] = await twoDomains();
  await receiveOne(b.name, 4, '2026-03-13');
  const leave = { accountId: account.id, domainId: a.id };
  await api.db.write(async (tx) => {
    await tx.updateTable('domain').set({ status: 'paused' }).where('id', '=', a.id).execute();
    await leaveAccountList(tx, leave);
  });
  const countOld = async () => {
    const rows = api.db
      .selectFrom('account_arrival')
      .innerJoin('account', 'account_seq', 'account.seq');
    const old = rows.select('position').whereRef('position', '<=', 'reports_begin');
    return (await old.execute()).length;
  };
  expect(await countOld()).toBe(4);
  expect(messagesOf(await read('?received_after=start'))).toEqual([2, 4]);
  const cursor = cursorOf(await read('?received_after=start&limit=1'));
  const [newest] = (await read()).body.data;
  await removeReport(api.db, newest.id, NOW);
  expect((await read(`?received_after=${cursor}`)).status).toBe(410);
  expect(messagesOf(await read('?received_after=start'))).toEqual([2]);
  await updateDomainStatus(api.db, b.id, 'paused');
  expect(await countOld()).toBe(0);
});

describe('GET /v1/external/reports?received_after', () => {
  test('lists what came after the cursor, whichever domain it is for, oldest first', async () => {
    const [a, b] = await twoDomains();
    const cursor = cursorOf(await read());
    await receiveOne(b.name, 4, '2026-03-01');
    await receiveOne(a.name, 5, '2026-03-14');
    const page = await read(`?received_after=${cursor}&limit=1`);
    expect([messagesOf(page), page.body.total]).toEqual([[4], 2]);
    expect(messagesOf(await read(`?received_after=${cursorOf(page)}`))).toEqual([5]);
    expect(messagesOf(await read('?received_after=start'))).toEqual([1, 2, 3, 4, 5]);
  });

  test('has a 304 while nothing is new', async () => {
    await twoDomains();
    const path = `${PATH}?received_after=${cursorOf(await read())}`;
    const { headers } = await api.get(path, { key: account.key });
    const again = { key: account.key, headers: { 'If-None-Match': headers['etag'] as string } };
    expect((await api.get(path, again)).status).toBe(304);
    expect((await api.get(path, { ...again, method: 'HEAD' })).status).toBe(304);
  });

  test('lists a corrected report again, and those of a domain that was added', async () => {
    const { name: domain } = await aDomain(api.db, account.id);
    const one = { domain, reportId: 'r' };
    await receive(api.db, [aReport({ ...one, totalMessages: 1, payload: 'wrong' })]);
    await receive(api.db, [aReport({ ...one, totalMessages: 2, payload: 'right' })]);
    await receiveOne('late.example', 3, '2026-03-11');
    const cursor = cursorOf(await read());
    const { seq } = await api.db.selectFrom('conflict').select('seq').executeTakeFirstOrThrow();
    await preferConflict(api.db, seq);
    await aDomain(api.db, account.id, { name: 'late.example' });
    expect(messagesOf(await read(`?received_after=${cursor}`))).toEqual([2, 3]);
  });

  test('of a list that a domain left is no longer good; the cursor of a domain is another list’s', async () => {
    const [a, b] = await twoDomains();
    const cursor = cursorOf(await read());
    await updateDomainStatus(api.db, a.id, 'paused');
    const expired = await read(`?received_after=${cursor}`);
    expect([expired.status, expired.body.error.code]).toEqual([410, 'cursor_expired']);
    const own = await api.get(`/v1/external/domains/${b.id}/reports`, { key: account.key });
    expect((await read(`?received_after=${cursorOf(own)}`)).status).toBe(422);
    expect(messagesOf(await read('?received_after=start'))).toEqual([2]);
  });

  test('of one domain takes a row for many transactions, and each keeps a cursor of its own while the oldest go', async () => {
    const { name } = await aDomain(api.db, account.id);
    const cursors = [cursorOf(await read('?received_after=start'))];
    for (const [i, day] of ['10', '11', '09', '12', '10'].entries()) {
      await receiveOne(name, i + 1, `2026-03-${day}`);
      cursors.push(cursorOf(await read('?limit=1')));
    }
    const countRows = () =>
      api.db.selectFrom('account_arrival').select(['length', 'position']).execute();
    expect(await countRows()).toEqual([{ length: 5, position: 5 }]);
    const readAfter = async () => {
      const answers = await Promise.all(cursors.map((cursor) => read(`?received_after=${cursor}`)));
      return answers.map((answer) => messagesOf(answer));
    };
    expect(await readAfter()).toEqual([[1, 2, 3, 4, 5], [2, 3, 4, 5], [3, 4, 5], [4, 5], [5], []]);
    // The third, then the first and the last, in the order of arrival.
    await pruneReports(api.db, { before: '2026-03-10', daysKept: 1, mayGoOn: async () => true });
    expect(await readAfter()).toEqual([[1, 2, 4, 5], [2, 4, 5], [4, 5], [4, 5], [5], []]);
    await pruneReports(api.db, { before: '2026-03-11', daysKept: 1, mayGoOn: async () => true });
    expect(await readAfter()).toEqual([[2, 4], [2, 4], [4], [4], [], []]);
    expect(await countRows()).toEqual([{ length: 5, position: 5 }]);
    await receiveOne(name, 6, '2026-03-12');
    expect(await readAfter()).toEqual([[2, 4, 6], [2, 4, 6], [4, 6], [4, 6], [6], [6]]);
    expect(await countRows()).toEqual([{ length: 6, position: 6 }]);
    expect(await listMiscounts(api.db)).toEqual({});
  });

  test('of a domain that joined keeps its cursor when its last report, and then another, has gone', async () => {
    for (const [messages, day] of [
      [1, '12'],
      [2, '11'],
      [3, '10'],
    ] as const)
      await receiveOne('late.example', messages, `2026-03-${day}`);
    await aDomain(api.db, account.id, { name: 'late.example' });
    const cursor = cursorOf(await read());
    await receiveOne('late.example', 4, '2026-03-12');
    await pruneReports(api.db, { before: '2026-03-11', daysKept: 1, mayGoOn: async () => true });
    expect(messagesOf(await read(`?received_after=${cursor}`))).toEqual([4]);
    await pruneReports(api.db, { before: '2026-03-12', daysKept: 1, mayGoOn: async () => true });
    expect(messagesOf(await read(`?received_after=${cursor}`))).toEqual([4]);
    expect(messagesOf(await read('?received_after=start'))).toEqual([1, 4]);
    expect(await listMiscounts(api.db)).toEqual({});
  });
});
