/** The scenario with openapi-typescript's types and openapi-fetch. */
// sample: setup
import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { components, operations, paths } from './build/v1.d.ts';

// end

type Alert = components['schemas']['Alert'];
type Domain = components['schemas']['Domain'];
type Overview = components['schemas']['DomainOverview'];
type AlignmentRegressionContext = components['schemas']['AlignmentRegressionContext'];

type ReportsQuery = NonNullable<operations['listReports']['parameters']['query']>;

const { PLUMBLINE_UNAVAILABLE_URL = '', PLUMBLINE_EXPIRED_CURSOR = '' } = process.env;
const nobodys = 'f0000000-0000-4000-8000-00000000000f';

// sample: setup
const { PLUMBLINE_BASE_URL = '', PLUMBLINE_API_KEY = '' } = process.env;
const plumbline = connect(PLUMBLINE_API_KEY);

function connect(key: string, baseUrl = PLUMBLINE_BASE_URL) {
  return createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
}
// end

/** A page of a domain's reports, with any parameters. */
function listReports(domain_id: string, query: ReportsQuery = {}) {
  const params = { path: { domain_id }, query };
  return plumbline.GET('/v1/external/domains/{domain_id}/reports', { params });
}

// sample: setup
async function findDomain(name: string) {
  // sample: listDomains
  const { data } = await plumbline.GET('/v1/external/domains', {
    params: { query: { limit: 50 } },
  });
  // end
  const domain = data?.data.find(({ domain }) => domain === name);
  assert(domain, `no ${name}`);
  return domain;
}
// end

async function findAlerts(type: string) {
  // sample: listAlerts
  const { data } = await plumbline.GET('/v1/external/alerts', {
    params: { query: { limit: 50 } },
  });
  // end
  const alerts = data?.data.filter((alert) => alert.type === type) ?? [];
  assert(alerts.length > 0, `no ${type}`);
  return alerts;
}

await check('every page # dates are text, which Date reads', async () => {
  // sample: listReports
  const { id: domain_id } = await findDomain('example.com');
  const reports: components['schemas']['Report'][] = [];
  let total = 1;
  while (reports.length < total) {
    const { data } = await plumbline.GET('/v1/external/domains/{domain_id}/reports', {
      params: { path: { domain_id }, query: { limit: 100, offset: reports.length } },
    });
    assert(data && data.data.length > 0, 'a page is missing');
    reports.push(...data.data);
    total = data.total;
  }
  // end
  assert(total > 200, `only ${total} reports`);
  assert.equal(new Set(reports.map((report) => report.id)).size, total);
  const begins = reports.map((report) => new Date(report.begin_date).getTime());
  assert(
    begins.every((begin, i) => begin <= (begins[i - 1] ?? Infinity)),
    'not newest first',
  );
});

await check('an empty list', async () => {
  const { id } = await findDomain('waiting.example');
  assert.deepEqual((await listReports(id)).data, { data: [], total: 0 });
});

await check('a null', async () => {
  // If the type is not nullable, nothing can be extracted, and this does not compile.
  const never: Extract<Domain['last_report_at'], null> = null;
  const open: Extract<Alert['resolved_at'], null> = null;
  assert.equal((await findDomain('waiting.example')).last_report_at, never);
  const { last_report_at } = await findDomain('example.com');
  assert(last_report_at !== null && new Date(last_report_at) <= new Date());
  const { data } = await plumbline.GET('/v1/external/alerts');
  const ends = data?.data.map(({ resolved_at }) => resolved_at) ?? [];
  assert(ends.includes(open), 'no open alert');
  const resolved = ends.filter((end) => end !== open);
  assert(resolved.length > 0, 'no resolved alert');
  assert(resolved.every((end) => new Date(end) <= new Date()));
});

await check('a null in a context', async () => {
  const [added] = await findAlerts('alert.dns_record_changed');
  assert.equal(added?.context['previous_value'], null);
});

await check('an unknown alert type', async () => {
  const [notice] = await findAlerts('alert.sandbox_notice');
  assert.deepEqual(Object.keys(notice?.context ?? {}), ['note']);
  assert.equal(typeof notice?.context['note'], 'string');
});

await check('a typed context', async () => {
  const alerts = await findAlerts('alert.alignment_regression');
  const contexts = alerts.map(({ context }) => context as AlignmentRegressionContext);
  assert(contexts.every(({ drop_pct }) => drop_pct >= 10));
});

await check('only what is new', async () => {
  const { id } = await findDomain('example.com');
  const ids: string[] = [];
  let cursor = 'start';
  for (let isNew = true; isNew; ) {
    const { data, response } = await listReports(id, { limit: 200, received_after: cursor });
    ids.push(...(data?.data.map((report) => report.id) ?? []));
    cursor = response.headers.get('Plumbline-Cursor') ?? assert.fail('no cursor');
    isNew = data !== undefined && data.data.length > 0;
  }
  assert.equal(ids.length, (await listReports(id)).data?.total);
  assert.equal(new Set(ids).size, ids.length);
});

await check('the reports of all domains', async () => {
  // sample: listAccountReports
  const { data } = await plumbline.GET('/v1/external/reports', { params: { query: { limit: 1 } } });
  const [report] = data?.data ?? [];
  // end
  assert(data && report, 'no report');
  const own = await listReports(report.domain_id, { limit: 1 });
  assert(own.data && own.data.total > 0 && data.total > own.data.total);
});

await check("a domain's policy, and a report's records", async () => {
  // sample: getDomain
  const { id: domain_id } = await findDomain('example.com');
  const domain = await plumbline.GET('/v1/external/domains/{domain_id}', {
    params: { path: { domain_id } },
  });
  const policy = domain.data?.data.published_policy;
  // end
  assert.equal(policy?.p, 'reject');
  await checkRecords();
  await checkTlsReports();
});

async function checkTlsReports(): Promise<void> {
  // sample: listTlsReports
  const { id: domain_id } = await findDomain('example.com');
  const { data: tls } = await plumbline.GET('/v1/external/domains/{domain_id}/tls-reports', {
    params: { path: { domain_id }, query: { limit: 200 } },
  });
  const counted = tls?.data.filter(({ authenticated }) => authenticated) ?? [];
  // end
  assert(counted.length <= (tls?.total ?? 0), 'TLS reports');
  await checkFailures();
}

async function checkFailures(): Promise<void> {
  // sample: listTlsReportFailures
  const { id: domain_id } = await findDomain('example.com');
  const { data: failing } = await plumbline.GET('/v1/external/domains/{domain_id}/tls-reports', {
    params: { path: { domain_id }, query: { failing: 'true', limit: 1 } },
  });
  const hosts: (string | null)[] = [];
  for (const { id: tls_report_id } of failing?.data ?? []) {
    const { data: failures } = await plumbline.GET(
      '/v1/external/domains/{domain_id}/tls-reports/{tls_report_id}/failures',
      { params: { path: { domain_id, tls_report_id } } },
    );
    for (const { mx_host } of failures?.data ?? []) hosts.push(mx_host);
  }
  // end
  assert(failing, 'no answer');
}

async function checkRecords(): Promise<void> {
  // sample: listReportRecords
  const { id: domain_id } = await findDomain('example.com');
  const reports = await plumbline.GET('/v1/external/domains/{domain_id}/reports', {
    params: { path: { domain_id }, query: { limit: 1 } },
  });
  const report = reports.data?.data[0];
  assert(report, 'no report');
  const records = await plumbline.GET(
    '/v1/external/domains/{domain_id}/reports/{report_id}/records',
    { params: { path: { domain_id, report_id: report.id } } },
  );
  const counts = records.data?.data.map(({ count }) => count) ?? [];
  // end
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    report.total_messages,
  );
  assert.equal(records.data?.data[0]?.identifiers.envelope_to, null);
}

await check("a domain's sources", async () => {
  // sample: listSources
  const { id: domain_id } = await findDomain('example.com');
  const query = { order: 'messages', limit: 1 } as const;
  const { data } = await plumbline.GET('/v1/external/domains/{domain_id}/sources', {
    params: { path: { domain_id }, query },
  });
  const [source] = data?.data ?? [];
  // end
  assert(data && source && data.total > 1, 'no sources');
  assert.equal(data.unlisted_messages, 0);
  assert(source.aligned_messages > 0 && source.first_day <= source.last_day);
  assert.deepEqual([source.mark, source.network.asn], ['legitimate', null]);
  assert.deepEqual([source.service.name, source.dispositions.reject], [null, 0]);
});

await check('the figures of all domains', async () => {
  // sample: listOverview
  const query = { order: 'domain', limit: 1 } as const;
  const { data } = await plumbline.GET('/v1/external/overview', { params: { query } });
  const [domain] = data?.data ?? [];
  // end
  assert.deepEqual([domain?.domain, domain?.policy.pct], ['example.com', null]);
  assert.equal(domain?.readiness.answer, 'reached');
  assert.deepEqual([domain.next_step.code, domain.next_step.record], ['alert', null]);
  await checkDays(domain);
  await checkKey();
});

/** Days up to today. The thirty days of the figures end with the newest day that has reports. */
async function checkDays({ figures }: Overview): Promise<void> {
  // sample: listDays
  const all = await plumbline.GET('/v1/external/days', { params: { query: { limit: 200 } } });
  const newest = all.data?.data[0]?.day;
  // end
  assert(newest !== undefined && newest >= figures.until, newest);
  // sample: listDomainDays
  const { id: domain_id } = await findDomain('example.com');
  const own = await plumbline.GET('/v1/external/domains/{domain_id}/days', {
    params: { path: { domain_id }, query: { limit: 200 } },
  });
  const messages = own.data?.data.reduce((sum, day) => sum + day.total_messages, 0) ?? 0;
  // end
  assert(messages > 0 && messages <= figures.total_messages, `${messages} messages`);
  await checkTlsDays();
}

async function checkTlsDays(): Promise<void> {
  // sample: listDomainTlsDays
  const { id: domain_id } = await findDomain('example.com');
  const { data: tls } = await plumbline.GET('/v1/external/domains/{domain_id}/tls-days', {
    params: { path: { domain_id }, query: { limit: 200 } },
  });
  const failed = tls?.data.filter((day) => day.failed_sessions > 0);
  // end
  assert(failed !== undefined && failed.length <= (tls?.total ?? 0), 'days of TLS reports');
}

async function checkKey(): Promise<void> {
  // sample: getKey
  const { data } = await plumbline.GET('/v1/external/key');
  const limit = data?.data.limits.key_per_minute;
  // end
  assert.deepEqual([limit, data?.data.expires_at], [60, null]);
}

await check('the feed, with records', async () => {
  // sample: listChanges
  const query = { after: 'start', limit: 10, include: 'records' } as const;
  const { data, response } = await plumbline.GET('/v1/external/changes', { params: { query } });
  const after = response.headers.get('Plumbline-Cursor');
  // end
  assert(data?.has_more && after !== null);
  assert.equal(data.data[0]?.domain?.domain, 'example.com');
  const report = data.data.find(({ type }) => type === 'report.stored')?.report;
  assert(report, 'no report');
  assert.deepEqual([report.records?.length, report.unlisted_records], [report.record_count, 0]);
});

await check('304', async () => {
  const { response } = await plumbline.GET('/v1/external/domains');
  const header = { 'If-None-Match': response.headers.get('ETag') ?? '' };
  const again = await plumbline.GET('/v1/external/domains', { params: { header } });
  assert.equal(again.response.status, 304);
  assert.equal(again.data, undefined);
});

await check('401', async () => {
  const { error, response } = await connect('plb_live_wrong').GET('/v1/external/domains');
  assert.deepEqual([response.status, error?.error.code], [401, 'unauthorized']);
});

await check('404', async () => {
  const { error, response } = await listReports(nobodys);
  assert.deepEqual([response.status, error?.error.code], [404, 'not_found']);
});

await check('410', async () => {
  const { id } = await findDomain('example.com');
  const { error, response } = await listReports(id, { received_after: PLUMBLINE_EXPIRED_CURSOR });
  assert.deepEqual([response.status, error?.error.code], [410, 'cursor_expired']);
});

await check('422', async () => {
  const { error, response } = await listReports(nobodys, { limit: 201 });
  assert.deepEqual([response.status, error?.error.code], [422, 'validation_error']);
  assert.match(error?.error.message ?? '', /"limit"/);
});

await check('503', async () => {
  const busy = connect('plb_live_any', PLUMBLINE_UNAVAILABLE_URL);
  const { error, response } = await busy.GET('/v1/external/domains');
  assert.deepEqual([response.status, error?.error.code], [503, 'unavailable']);
  assert.equal(Number(response.headers.get('Retry-After')), 5);
});

await check('429', async () => {
  for (let sent = 0; sent <= 60; sent++) {
    const { error, response } = await plumbline.GET('/v1/external/domains');
    if (response.status === 200) continue;
    assert.deepEqual([response.status, error?.error.code], [429, 'rate_limited']);
    assert.equal(Number(response.headers.get('Retry-After')), 60);
    return;
  }
  assert.fail('never refused');
});

/** Prints the result of a check; the text after `#` says what differs in this client. */
async function check(name: string, body: () => Promise<void>): Promise<void> {
  try {
    await body();
    print(`ok ${name}`);
  } catch (error) {
    print(`not ok ${name}: ${String(error).replaceAll('\n', ' ')}`);
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
