import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { readTlsFields } from '../../src/external/tls-fields.ts';
import type { BoundQuery } from '../../src/store/engine/prepared.ts';
import { serveApi } from '../support/api.ts';
import { aDomain, anAccount, aReport, NOW, receive, UNKNOWN_ID } from '../support/builders.ts';
import { record } from '../support/plans.ts';
import { aStore } from '../support/store.ts';
import { aReadFailure, aReadPolicy, aReadTlsReport } from '../support/tls-report.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.setSystemTime(new Date(NOW));
  onTestFinished(() => void vi.useRealTimers());
});

const NOBODY = { authenticated: '' };
const FAILING = aReadPolicy({
  ...{ successes: 10, failures: 5 },
  details: [
    aReadFailure({ sessions: 1, resultType: 'validation-failure' }),
    aReadFailure({ sessions: 3 }),
    aReadFailure({ sessions: 1, mxHost: 'mx2.example.com' }),
  ],
});

async function serveDomain() {
  const { db, get } = await serveApi();
  const { key, id: accountId } = await anAccount(db);
  const { id } = await aDomain(db, accountId, { name: 'example.com' });
  const read = (query = '', headers = {}) =>
    get(`/v1/external/domains/${id}/tls-days${query}`, { key, headers });
  const of = (day: string, changes: Parameters<typeof aReadTlsReport>[0] = {}) =>
    aReadTlsReport({
      reportId: `${day} ${changes.orgName}`,
      begin: `${day}T00:00:00Z`,
      ...changes,
    });
  const readDomain = (headers = {}) => get(`/v1/external/domains/${id}`, { key, headers });
  return { db, get, read, readDomain, of };
}

describe('GET /v1/external/domains/{domain_id}/tls-days', () => {
  test('has a row for each day, type of policy and mode of the last thirty days, newest first', async () => {
    const { db, read, of } = await serveDomain();
    const dane = aReadPolicy({ type: 'tlsa', mode: null, successes: 15 });
    await receive(db, [
      of('2026-03-10', { policies: [FAILING, dane] }),
      of('2026-03-10', { orgName: 'Other', successes: 2 }),
      of('2026-03-14', { policies: [aReadPolicy({ mode: 'enforce', successes: 4 })] }),
      of('2026-02-13'),
    ]);
    const { body } = await read();
    expect(body).toStrictEqual({
      data: [
        {
          ...{ day: '2026-03-14', policy_type: 'sts', mode: 'enforce' },
          ...{ successful_sessions: 4, failed_sessions: 0, result_types: [] },
          reporters: [{ reporter: 'Example', failed_sessions: 0, total_sessions: 4 }],
        },
        {
          ...{ day: '2026-03-10', policy_type: 'sts', mode: 'testing' },
          ...{ successful_sessions: 12, failed_sessions: 5 },
          reporters: [
            { reporter: 'Example', failed_sessions: 5, total_sessions: 15 },
            { reporter: 'Other', failed_sessions: 0, total_sessions: 2 },
          ],
          result_types: [
            { result_type: 'certificate-expired', failed_sessions: 4 },
            { result_type: 'validation-failure', failed_sessions: 1 },
          ],
        },
        {
          ...{ day: '2026-03-10', policy_type: 'tlsa', mode: null },
          ...{ successful_sessions: 15, failed_sessions: 0, result_types: [] },
          reporters: [{ reporter: 'Example', failed_sessions: 0, total_sessions: 15 }],
        },
      ],
      total: 3,
    });
    const page = await read('?limit=1&offset=1');
    expect(page.body.data).toStrictEqual([body.data[1]]);
    expect(page.headers['link']).toContain('offset=2');
    const range = await read('?from=2026-02-01&until=2026-02-13');
    expect(range.body.data).toMatchObject([{ day: '2026-02-13' }]);
  });

  test('counts nothing that is not believed, and its tag changes with what is', async () => {
    const { db, read, of } = await serveDomain();
    await receive(db, [of('2026-03-10')], NOW, NOBODY);
    const first = await read();
    expect(first.body).toStrictEqual({ data: [], total: 0 });
    const { etag = '' } = first.headers;
    await receive(db, [aReport()]);
    expect((await read('', { 'If-None-Match': etag })).status).toBe(304);
    await receive(db, [of('2026-03-10')], NOW, { authenticated: 'google.com' });
    const second = await read('', { 'If-None-Match': etag });
    expect(second.status).toBe(200);
    expect(second.body.total).toBe(1);
  });

  test('is 404 for another account’s domain, and 422 for too many days', async () => {
    const { db, get, read } = await serveDomain();
    const { key } = await anAccount(db);
    expect((await read('?from=2020-01-01')).status).toBe(422);
    for (const id of [UNKNOWN_ID])
      expect((await get(`/v1/external/domains/${id}/tls-days`, { key })).status).toBe(404);
  });
});

describe('tls of GET /v1/external/domains/{domain_id}', () => {
  test('has the figures of each type of policy, and the worst failure as its next step', async () => {
    const { db, readDomain, of } = await serveDomain();
    const { etag = '' } = (await readDomain()).headers;
    const dane = aReadPolicy({ type: 'tlsa', mode: null, successes: 15 });
    await receive(db, [of('2026-03-10', { policies: [FAILING, dane] }), of('2026-03-14')]);
    await receive(db, [of('2026-03-13', { successes: 500 })], NOW, NOBODY);
    const { body, status } = await readDomain({ 'If-None-Match': etag });
    expect(status).toBe(200);
    expect(body.data.tls).toStrictEqual({
      last_report_at: NOW,
      figures: [
        { policy_type: 'sts', mode: 'testing', successful_sessions: 22, failed_sessions: 5 },
        { policy_type: 'tlsa', mode: null, successful_sessions: 15, failed_sessions: 0 },
      ],
      record: { value: null, findings: [] },
      policy: { id: null, mode: null, mx: [], max_age: null, findings: [], checked_at: null },
      next_step: {
        ...{ code: 'repair', result_type: 'certificate-expired', mx_host: 'mx.example.com' },
        text: 'The certificate of mx.example.com has expired. Renew it, reload the mail server, and automate both.',
      },
    });
    expect(body.data).toMatchObject({ last_report_at: null, figures: { total_messages: 0 } });
  });

  test.each([
    ['enforce', 'nothing'],
    ['testing', 'wait'],
  ] as const)('where nothing failed in %s, the step is %s', async (mode, code) => {
    const { db, readDomain, of } = await serveDomain();
    await receive(db, [of('2026-03-14', { policies: [aReadPolicy({ mode })] })]);
    expect((await readDomain()).body.data.tls.next_step).toMatchObject({ code, mx_host: null });
  });

  test('reads nothing more of a domain that never had a TLS report', async () => {
    const store = await aStore();
    const { id: accountId } = await anAccount(store.db);
    const { id: domainId } = await aDomain(store.db, accountId, { name: 'example.com' });
    await receive(store.db, [aReport()]);
    const asked: BoundQuery<unknown>[] = [];
    const given = { days: { readTlsDays: () => Promise.reject(new Error('It is read.')) } };
    const scope = { accountId, domainId };
    const of = { scope, name: 'example.com', today: '2026-03-15', version: null, check: undefined };
    await readTlsFields(record(store.reader, asked), of, given as never);
    expect(asked).toEqual([]);
  });
});
