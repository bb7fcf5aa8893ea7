import { describe, expect, test } from 'vitest';
import { toReportId } from '../../src/domain/reports/report-identity.ts';
import { removeReport } from '../../src/store/reports/corrections.ts';
import { type Answer, serveApi } from '../support/api.ts';
import { aDomain, anAccount, aReport, NOW, receive, UNKNOWN_ID } from '../support/builders.ts';
import { aReadFailure, aReadPolicy, aReadTlsReport } from '../support/tls-report.ts';

const FAILING = aReadPolicy({
  ...{ successes: 480, failures: 12, mxHosts: ['mx1.example.com', 'mx2.example.com'] },
  details: [
    aReadFailure({ sessions: 2, resultType: 'something-new', information: 'x'.repeat(4_000) }),
    aReadFailure({ sessions: 10, sendingIp: '192.0.2.10', receivingIp: '2001:db8::25' }),
  ],
});
const DANE = aReadPolicy({ type: 'tlsa', domain: 'mx1.example.com', mode: null, successes: 7 });

async function serveDomain() {
  const api = await serveApi();
  const account = await anAccount(api.db);
  const domain = await aDomain(api.db, account.id, { name: 'example.com' });
  const read = (rest = '', headers = {}) =>
    api.get(`/v1/external/domains/${domain.id}/tls-reports${rest}`, { key: account.key, headers });
  return { ...api, account, domain, read };
}

const idsOf = ({ body }: Answer): string[] => body.data.map(({ id }: { id: string }) => id);

describe('GET /v1/external/domains/{domain_id}/tls-reports', () => {
  test('has the fields of the contract, and no DMARC report', async () => {
    const { db, domain, read } = await serveDomain();
    const report = aReadTlsReport({ policies: [FAILING, DANE] });
    await receive(db, [report, aReport({ domain: 'example.com' })]);
    expect((await read()).body).toStrictEqual({
      data: [
        {
          id: toReportId(report),
          domain_id: domain.id,
          reporter_org: 'Example',
          reporter_email: 'tls@reporter.example',
          begin_date: '2026-03-10T00:00:00Z',
          end_date: '2026-03-10T23:59:59Z',
          successful_sessions: 487,
          failed_sessions: 12,
          authenticated: true,
          policies: [
            {
              ...{ policy_type: 'sts', policy_domain: 'example.com', mode: 'testing' },
              mx_hosts: ['mx1.example.com', 'mx2.example.com'],
              ...{ successful_sessions: 480, failed_sessions: 12 },
            },
            {
              ...{ policy_type: 'tlsa', policy_domain: 'mx1.example.com', mode: null },
              ...{ mx_hosts: [], successful_sessions: 7, failed_sessions: 0 },
            },
          ],
          revision: 1,
        },
      ],
      total: 1,
    });
  });

  test.each([
    ['of nobody', { authenticated: '' }, false],
    ['of a new reporter', { authenticated: 'reporter.example' }, true],
    ['of a file', {}, true],
  ])('one %s says whether it is authenticated', async (_of, sender, isAuthenticated) => {
    const { db, read } = await serveDomain();
    await receive(db, [aReadTlsReport()], NOW, sender);
    expect((await read()).body.data).toMatchObject([{ authenticated: isAuthenticated }]);
  });

  test('filters by day, reporter and failures, and a cursor tells of what came since', async () => {
    const { db, read } = await serveDomain();
    const [old, failing, other] = [
      aReadTlsReport({ begin: '2026-03-08T00:00:00Z' }),
      aReadTlsReport({ policies: [FAILING] }),
      aReadTlsReport({ orgName: 'Other', begin: '2026-03-12T00:00:00Z' }),
    ].map((report) => ({ report, id: toReportId(report) })) as [One, One, One];
    await receive(db, [old.report, failing.report]);
    const { headers } = await read();
    const cursor = headers['plumbline-cursor'];
    await receive(db, [other.report]);
    expect(idsOf(await read('?failing=true'))).toEqual([failing.id]);
    expect(idsOf(await read('?reporter=OTHER'))).toEqual([other.id]);
    expect(idsOf(await read('?from=2026-03-10&until=2026-03-11'))).toEqual([failing.id]);
    expect(idsOf(await read(`?received_after=${cursor}`))).toEqual([other.id]);
    await removeReport(db, old.id, NOW);
    expect((await read(`?received_after=${cursor}`)).status).toBe(410);
    expect((await read('?failing=no')).status).toBe(422);
  });

  test('lists of DMARC reports keep their tags and cursors, whatever comes to it', async () => {
    const { db, account, domain, get } = await serveDomain();
    const report = aReadTlsReport({ policies: [FAILING] });
    await receive(db, [aReport({ domain: 'example.com' })]);
    const paths = [`domains/${domain.id}/reports`, 'reports', 'domains', 'alerts', 'changes'];
    const ask = (path: string, headers = {}) =>
      get(`/v1/external/${path}`, { key: account.key, headers });
    const end = (await ask('changes')).headers['plumbline-cursor'];
    const asked = [...paths, `changes?after=${end}`, `domains/${domain.id}/days`];
    const before = await Promise.all(asked.map((path) => ask(path)));
    await receive(db, [report]);
    for (const [i, path] of asked.entries()) {
      const headers = { 'If-None-Match': before[i]?.headers['etag'] };
      const { status, body } = await ask(path, headers);
      if (path === 'changes') expect(body).toEqual(before[i]?.body);
      else expect(status, path).toBe(304);
    }
    const came = `domains/${domain.id}/reports?received_after=`;
    const cursor = before[0]?.headers['plumbline-cursor'];
    await removeReport(db, toReportId(report), NOW);
    expect((await ask(`${came}${cursor}`)).body).toEqual({ data: [], total: 0 });
    expect((await ask('changes?after=start')).body).toEqual(before[4]?.body);
  });
});

interface One {
  readonly report: ReturnType<typeof aReadTlsReport>;
  readonly id: string;
}

describe('GET /v1/external/domains/{domain_id}/tls-reports/{tls_report_id}/failures', () => {
  test('has the details, most sessions first, with bounded texts', async () => {
    const { db, read } = await serveDomain();
    const report = aReadTlsReport({ policies: [DANE, FAILING] });
    await receive(db, [report]);
    const path = `/${toReportId(report)}/failures`;
    const { body } = await read(path);
    expect(body).toMatchObject({ total: 2, revision: 1 });
    expect(body.data[0]).toStrictEqual({
      ...{ policy_type: 'sts', policy_domain: 'example.com', result_type: 'certificate-expired' },
      ...{ failed_sessions: 10, sending_ip: '192.0.2.10', mx_host: 'mx.example.com' },
      ...{ mx_helo: null, receiving_ip: '2001:db8::25', reason_code: null, information: null },
    });
    expect(body.data[1]).toMatchObject({ result_type: 'something-new' });
    expect(body.data[1].information).toHaveLength(1_000);
    const page = await read(`${path}?limit=1&offset=1`);
    expect(page.body.data).toEqual([body.data[1]]);
    const headers = { 'If-None-Match': page.headers['etag'], 'X-Request-Id': 'mine' };
    const again = await read(`${path}?limit=1&offset=1`, headers);
    expect([again.status, again.headers['x-request-id']]).toEqual([304, 'mine']);
  });

  test('is 404 for a DMARC report, and for none', async () => {
    const { db, read } = await serveDomain();
    const report = aReport({ domain: 'example.com' });
    await receive(db, [report]);
    for (const id of [toReportId(report), UNKNOWN_ID])
      expect((await read(`/${id}/failures`)).status).toBe(404);
  });
});

test('the feed tells of them to who asks, with records or without', async () => {
  const { db, account, get } = await serveDomain();
  const report = aReadTlsReport();
  await receive(db, [report, aReport({ domain: 'example.com' })]);
  await removeReport(db, toReportId(report), NOW);
  await receive(db, [aReadTlsReport({ reportId: 'two' })]);
  const ask = async (include: string) => {
    const path = `/v1/external/changes?include=${include}`;
    const { body } = await get(path, { key: account.key });
    return body.data.map(({ type, report }: { type: string; report?: { records?: object[] } }) =>
      report?.records === undefined ? type : `${type} ${report.records.length}`,
    );
  };
  const both = ['domain.listed', 'report.stored', 'tls_report.removed', 'tls_report.stored'];
  expect(await ask('tls')).toEqual(both);
  expect(await ask('records')).toEqual(['domain.listed', expect.stringMatching(/stored \d/)]);
  for (const include of ['records,tls', 'tls,records', 'records%2Ctls'])
    expect(await ask(include)).toEqual(both.with(1, expect.stringMatching(/stored \d/)));
  const { status } = await get('/v1/external/changes?include=alerts', { key: account.key });
  expect(status).toBe(422);
});
