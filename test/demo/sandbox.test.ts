import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { ingestDemo, insertDemoAccount } from '../../src/demo/demo-data.ts';
import { fillSandbox } from '../../src/demo/sandbox-data.ts';
import { isApiKey } from '../../src/domain/access/api-key.ts';
import { SANDBOX_DOMAIN_IDS, SANDBOX_KEY } from '../../src/domain/sandbox.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { type Answer, type Api, serveApi, startApi, walk } from '../support/api.ts';
import { aCommand, finish, printed } from '../support/command.ts';
import { caseCount } from '../support/counts.ts';
import { runServer } from '../support/running-server.ts';

const TODAY = new Date('2026-03-18T09:00:00Z');
const DAY_MS = 86_400_000;
const { 'example.com': EXAMPLE, 'waiting.example': WAITING } = SANDBOX_DOMAIN_IDS;
const LISTS = [
  '/changes?after=',
  `/domains/${EXAMPLE}/reports?received_after=`,
  '/alerts?changed_after=',
];

const getFrom =
  (api: Api) =>
  (path: string, headers: Record<string, string> = {}) =>
    api.get(`/sandbox/v1/external${path}`, { key: SANDBOX_KEY, headers });

function setToday(today: Date): void {
  vi.useFakeTimers({ toFake: ['Date'], now: today });
  onTestFinished(() => void vi.useRealTimers());
}

describe('the sandbox', () => {
  let api: Api;
  const get = (path: string) => getFrom(api)(path);

  beforeAll(async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: TODAY });
    api = await startApi();
    await get('/domains');
  });
  afterAll(async () => {
    vi.useRealTimers();
    await api.close();
  });

  test('has three domains, whose ids are the same on every day', async () => {
    const { body } = await get('/domains');
    const listed = body.data.map(({ id, domain }: Record<string, string>) => [domain, id]);
    expect(Object.fromEntries(listed)).toEqual(SANDBOX_DOMAIN_IDS);
  });

  test('has ninety days of reports of four reporters, one of which leaves out its name', async () => {
    const { items } = await walk(get, `/domains/${EXAMPLE}/reports`, 200);
    const reports = items as Record<string, string | null>[];
    expect(reports).toHaveLength(360);
    expect(reports.at(0)?.['begin_date']).toBe('2026-03-17T00:00:00Z');
    expect(new Set(reports.map((report) => report['reporter_org'])).size).toBe(4);
    expect(reports.filter((report) => report['reporter_org'] === null)).toHaveLength(90);
  });

  test('has TLS reports of thirty days: one domain in testing, and one with a host that fails, too seldom for an alert', async () => {
    const { 'shop.example': SHOP } = SANDBOX_DOMAIN_IDS;
    const days = await get(`/domains/${EXAMPLE}/tls-days?limit=200`);
    expect(days.body.total).toBe(29);
    expect(days.body.data[0]).toMatchObject({
      day: '2026-03-17',
      mode: 'testing',
      failed_sessions: 0,
    });
    const stepOf = async (id = '') => (await get(`/domains/${id}`)).body.data.tls.next_step;
    expect(await stepOf(EXAMPLE)).toMatchObject({ code: 'enforce' });
    expect(await stepOf(SHOP)).toMatchObject({ code: 'repair', mx_host: 'mx2.shop.example' });
    expect((await get('/alerts?type=alert.tls_failures')).body.total).toBe(0);
  });

  test('has a domain that waits for its first report', async () => {
    const { body } = await get('/domains?offset=2');
    expect(body.data[0]).toMatchObject({ domain: 'waiting.example', last_report_at: null });
    expect((await get(`/domains/${WAITING}/reports`)).body).toEqual({ data: [], total: 0 });
    expect((await get(`/alerts?domain_id=${WAITING}`)).body).toEqual({ data: [], total: 0 });
  });

  test('has open and resolved alerts, and one of a type that clients do not know', async () => {
    const { body } = await get('/alerts');
    const states = body.data.map(
      ({ type, resolved_at }: Record<string, unknown>) =>
        `${type} ${resolved_at === null ? 'open' : 'resolved'}`,
    );
    expect(states).toEqual([
      'alert.sandbox_notice open',
      'alert.alignment_regression open',
      'alert.dns_record_changed resolved',
      'alert.new_failing_source resolved',
      'alert.alignment_regression resolved',
    ]);
  });

  test('has a list, of which receivers say that they let it through', async () => {
    const { body } = await get(`/domains/${EXAMPLE}/reports?limit=1`);
    const { body: records } = await get(
      `/domains/${EXAMPLE}/reports/${body.data[0].id}/records?limit=200`,
    );
    const listed = records.data.filter((record: unknown) =>
      JSON.stringify(record).includes('"type":"mailing_list"'),
    );
    expect(JSON.stringify(listed)).toMatch(/203\.0\.113\.12".*"disposition":"none"/);
    expect(listed).toHaveLength(1);
  });

  test('tells of the next page with an address that stays in the sandbox, and it is good', async () => {
    for (const path of ['/reports?limit=1', '/changes?limit=1', '/alerts?limit=1']) {
      const { headers } = await get(path);
      const [, next] = /^<([^>]+)>; rel="next"$/.exec(headers['link'] ?? '') ?? [];
      expect(next).toMatch(/^\/sandbox\/v1\/external\//);
      const { status, body } = await api.get(next as string, { key: SANDBOX_KEY });
      expect([status, body.data.length]).toEqual([200, 1]);
    }
  });

  test('is the same on another server, which goes on with its pages and cursors', async () => {
    const other = getFrom(await serveApi());
    const paths = [...(await listPaths(get)), ...LISTS.map((list) => `${list}start`)];
    for (const path of paths) {
      const [one, two] = [await get(path), await other(path)];
      expect(two.text, path).toBe(one.text);
      expect(pickHeaders(two), path).toEqual(pickHeaders(one));
      const { etag = '' } = one.headers;
      expect((await other(path, { 'If-None-Match': etag })).status, path).toBe(304);
    }
    for (const list of LISTS) {
      const { headers } = await get(`${list}start`);
      expect((await other(list + headers['plumbline-cursor'])).status, list).toBe(200);
    }
  });

  test('has the same figures on every day of the week and at every hour', async () => {
    const seen = new Set<string>();
    // The first three of these days are a Thursday to a Saturday.
    for (let day = 1; day <= caseCount({ few: 3, full: 7 }); day++) {
      const start = new Date(TODAY.getTime() + day * DAY_MS + day * 7_000_000);
      vi.setSystemTime(start);
      seen.add(JSON.stringify(await readFigures()));
    }
    vi.setSystemTime(TODAY);
    expect(seen.size).toBe(1);
  });
});

/** A request of each operation. */
async function listPaths(get: (path: string) => Promise<Answer>): Promise<string[]> {
  const { body } = await get(`/domains/${EXAMPLE}/reports?limit=1`);
  const domain = `/domains/${EXAMPLE}`;
  return [
    ...['/domains', '/overview', '/days', '/alerts', '/reports?limit=200', '/key'],
    ...['/changes?include=records&limit=1000', '/changes?limit=1000'],
    ...['', '/days', '/sources', '/reports'].map((end) => domain + end),
    `${domain}/reports/${body.data[0].id}/records`,
  ];
}

const pickHeaders = ({ headers }: Answer) => [
  headers['etag'],
  headers['link'],
  headers['plumbline-cursor'],
];

/** Everything in a sandbox that is not a time or made from one. */
async function readFigures(): Promise<unknown> {
  const api = await startApi();
  const read = async (path: string) => {
    const { items } = await walk(getFrom(api), path, 200);
    return items.map((item) => toFigures(item));
  };
  const figures = [await read(`/domains/${EXAMPLE}/reports`), await read('/alerts')];
  await api.close();
  return figures;
}

const OF_A_DAY = /^(id|begin_date|end_date|fired_at|resolved_at|day|since)$/;

function toFigures(item: unknown): unknown {
  const names = (key: string, value: unknown) => (OF_A_DAY.test(key) ? typeof value : value);
  return JSON.parse(JSON.stringify(item, names));
}

test('on a new day the former sandbox answers until the new one is there, which has the same domains and begins anew', async () => {
  setToday(TODAY);
  const get = getFrom(await serveApi());
  const newest = async () => (await get('/reports?limit=1')).body.data?.[0].begin_date;
  expect(await newest()).toBe('2026-03-17T00:00:00Z');
  const cursors = await Promise.all(
    LISTS.map(async (list) => (await get(`${list}start`)).headers['plumbline-cursor']),
  );
  vi.setSystemTime(TODAY.getTime() + DAY_MS);
  expect(await newest()).toBe('2026-03-17T00:00:00Z');
  await expect.poll(newest).toBe('2026-03-18T00:00:00Z');
  expect((await get(`/domains/${EXAMPLE}`)).status).toBe(200);
  for (const [i, list] of LISTS.entries()) {
    const { status, body } = await get(`${list}${cursors[i]}`);
    expect([status, body.error.code], list).toEqual([410, 'cursor_expired']);
  }
});

test('what fills a sandbox has an audit whose first entries are those of its account, key and domains', async () => {
  const store = await openStore(':memory:');
  onTestFinished(store.close);
  await fillSandbox(store, TODAY);
  const entries = await store.db.selectFrom('audit').select(['action', 'at']).execute();
  const first = entries.filter(({ at }) => at === '2025-12-18T00:00:00Z');
  expect(first.map(({ action }) => action).sort()).toEqual([
    ...['account_created', 'domain_added', 'domain_added', 'key_created'],
  ]);
  expect(entries.filter(({ at }) => at < '2025-12-18T00:00:00Z')).toEqual([]);
});

describe('the demo', () => {
  test('has five domains, and one open alert, about the broken key', async () => {
    const store = await openStore(':memory:');
    onTestFinished(store.close);
    const account = await insertDemoAccount(store.db, TODAY);
    await ingestDemo(store, account, TODAY);
    expect(account.domains.map(({ domain }) => domain)).toEqual([
      ...['example.com', 'shop.example', 'parked.example', 'studio.example', 'garden.example'],
    ]);
    const alerts = await store.db.selectFrom('alert').selectAll().execute();
    const open = alerts.filter(({ resolved_at: resolvedAt }) => resolvedAt === null);
    expect(open.map(({ type, domain_id: id }) => [type, id])).toEqual([
      ['alert.alignment_regression', account.domains[1]?.id],
    ]);
  });
});

describe('the key of the sandbox', () => {
  test('has the format of every key, so that clients and scanners accept it', () => {
    expect(isApiKey(SANDBOX_KEY)).toBe(true);
  });
});

describe('plumbline serve --sandbox', () => {
  test('prints commands to paste, serves nothing else, leaves no file, and stops on SIGTERM', async () => {
    const { start, folder } = await aCommand();
    const child = start('serve', '--sandbox');
    const ended = finish(child);
    const text = await printed(child, /Ctrl\+C/);
    const url = /PLUMBLINE_BASE_URL=(.+)/.exec(text)?.[1] as string;
    expect(url).toMatch(/\/sandbox$/);
    expect(text).toContain(`PLUMBLINE_API_KEY=${SANDBOX_KEY}`);
    expect(text).toContain(`DOMAIN_ID=${EXAMPLE}`);
    const headers = { authorization: `Bearer ${SANDBOX_KEY}` };
    const answer = await fetch(`${url}/v1/external/domains`, { headers });
    expect(await answer.json()).toMatchObject({ total: 3 });
    const { origin } = new URL(url);
    const elsewhere = await fetch(`${origin}/v1/external/domains`, { headers });
    expect([elsewhere.status, await elsewhere.json()]).toEqual([
      401,
      { error: { code: 'unauthorized', message: OF_SANDBOX } },
    ]);
    expect((await fetch(`${origin}/settings`, { redirect: 'manual' })).status).toBe(404);
    child.kill('SIGTERM');
    expect((await ended).status).toBe(0);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('a server without the flag has settings', async () => {
    const { server } = await runServer();
    expect((await fetch(`${server.url}/settings/sign-in`)).status).toBe(200);
  });
});

const OF_SANDBOX = 'This key is for the sandbox, at /sandbox/v1/external.';
