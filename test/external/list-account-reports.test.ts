import { beforeEach, describe, expect, test } from 'vitest';
import { toReportId } from '../../src/domain/reports/report-identity.ts';
import { addDomain, updateDomainStatus } from '../../src/store/domains/domains.ts';
import { removeDomain } from '../../src/store/domains/removed-domains.ts';
import type { Db } from '../../src/store/engine/database.ts';
import { operator } from '../../src/store/events/audit.ts';
import { preferConflict } from '../../src/store/reports/corrections.ts';
import { finishListings } from '../../src/store/reports/listing.ts';
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
    expect(listed).toStrictEqual({ ...own.body.data[0], revision: 1, domain_id: id });
    expect(listed.id).toBe(toReportId(report));
  });

  test('lists those of all domains, newest window first, then latest arrival, by pages', async () => {
    await twoDomains();
    expect(messagesOf(await read())).toEqual([2, 3, 1]);
    const page = await read('?limit=1&offset=1');
    expect([messagesOf(page), page.body.total]).toEqual([[3], 3]);
    expect((await read('?offset=3')).body).toEqual({ data: [], total: 3 });
  });

  test('answers 304 until a report comes to any of its domains', async () => {
    const [domain] = await twoDomains();
    const { headers } = await read();
    const ask = () =>
      api.get(PATH, { key: account.key, headers: { 'If-None-Match': String(headers['etag']) } });
    expect((await ask()).status).toBe(304);
    await receiveOne(domain.name, 4, '2026-03-11');
    expect((await ask()).status).toBe(200);
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
});

describe('a domain with more reports than one transaction lists', () => {
  const late = 'late.example';
  const listSome = () => finishListings(api.db, async () => false, 2);

  beforeEach(async () => {
    for (const messages of [1, 2, 3, 4, 5]) await receiveOne(late, messages, '2026-03-10');
    await receiveOne(late, 6, '2026-03-12');
    const { name } = await aDomain(api.db, account.id);
    await receiveOne(name, 10, '2026-03-11');
  });

  test('comes to the list, and leaves it, in the order of its arrival, with what came and was corrected meanwhile', async () => {
    const wrong = { domain: late, reportId: 'r', begin: '2026-03-09T00:00:00Z' };
    await receive(api.db, [aReport({ ...wrong, totalMessages: 7, payload: 'wrong' })]);
    await receive(api.db, [aReport({ ...wrong, totalMessages: 8, payload: 'right' })]);
    const { id } = await addUnlisted(api.db, { accountId: account.id, name: late });
    expect(messagesOf(await read())).toEqual([10]);
    await listSome();
    expect(messagesOf(await read())).toEqual([10, 2, 1]);
    await receiveOne(late, 9, '2026-03-13');
    const { seq } = await api.db.selectFrom('conflict').select('seq').executeTakeFirstOrThrow();
    await preferConflict(api.db, seq);
    expect(messagesOf(await read())).toEqual([9, 10, 2, 1, 8]);
    while (!(await listSome())) expect(await listMiscounts(api.db)).toEqual({});
    expect(messagesOf(await read())).toEqual([9, 6, 10, 5, 4, 3, 2, 1, 8]);
    const own = await api.get(`/v1/external/domains/${id}/reports`, { key: account.key });
    expect(messagesOf(own)).toEqual([9, 6, 5, 4, 3, 2, 1, 8]);
    await updateDomainStatus(api.db, id, 'paused');
    expect(messagesOf(await read())).toEqual([10]);
    expect(await listMiscounts(api.db)).toEqual({});
  });

  test('leaves the list again when it is paused before all have come', async () => {
    const { id } = await addUnlisted(api.db, { accountId: account.id, name: late });
    await listSome();
    await updateDomainStatus(api.db, id, 'paused');
    expect(messagesOf(await read())).toEqual([10]);
    await updateDomainStatus(api.db, id, 'active');
    expect(messagesOf(await read())).toEqual([6, 10, 5, 4, 3, 2, 1]);
    expect(await listMiscounts(api.db)).toEqual({});
  });

  test('is whole in the list of the account that has it in the end, if another had it first', async () => {
    const { id } = await addUnlisted(api.db, { accountId: account.id, name: late });
    await listSome();
    await removeDomain(api.db, id);
    const other = await anAccount(api.db);
    await addUnlisted(api.db, { accountId: other.id, name: late });
    while (!(await listSome()));
    expect(messagesOf(await read('', other))).toEqual([6, 5, 4, 3, 2, 1]);
    expect(messagesOf(await read())).toEqual([10]);
    await removeDomain(api.db, id);
    await aDomain(api.db, account.id, { name: late });
    expect(messagesOf(await read())).toEqual([6, 10, 5, 4, 3, 2, 1]);
    expect(messagesOf(await read('', other))).toEqual([]);
    expect(await listMiscounts(api.db)).toEqual({});
  });
});

describe('422', () => {
  test('for a cursor: the list has pages alone', async () => {
    const { status, body } = await read('?received_after=start');
    const message = '"received_after" is no parameter of this operation.';
    expect([status, body.error]).toEqual([422, { code: 'validation_error', message }]);
    expect((await read()).headers).not.toHaveProperty('plumbline-cursor');
  });
});

/** As a process leaves it that is killed before it lists the domain's reports. */
function addUnlisted(db: Db, domain: { readonly accountId: string; readonly name: string }) {
  return db.write((tx) => addDomain(tx, { ...domain, now: NOW }, operator(NOW)));
}
