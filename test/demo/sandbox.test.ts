import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ingestDemo, insertDemoAccount } from '../../src/demo/demo-data.ts';
import { openSandbox } from '../../src/demo/sandbox.ts';
import { isApiKey } from '../../src/domain/access/api-key.ts';
import { SANDBOX_DOMAIN_IDS, SANDBOX_KEY } from '../../src/domain/sandbox.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { serveApi, startApi, walk } from '../support/api.ts';
import { anAccount } from '../support/builders.ts';
import { aCommand, finish, printed } from '../support/command.ts';
import { caseCount } from '../support/counts.ts';
import { runServer } from '../support/running-server.ts';

const TODAY = new Date('2026-03-18T09:00:00Z');
const { 'example.com': EXAMPLE, 'waiting.example': WAITING } = SANDBOX_DOMAIN_IDS;

describe('the sandbox', () => {
  let api: Awaited<ReturnType<typeof startApi>>;
  const get = (path: string) => api.get(`/v1/external${path}`, { key: SANDBOX_KEY });

  beforeAll(async () => {
    const { store } = await openSandbox(TODAY);
    api = await startApi({ store });
  }, 60_000);
  afterAll(() => api.close());

  test('has three domains, whose ids are the same in every run', async () => {
    const { body } = await get('/domains');
    const listed = body.data.map(({ id, domain }: Record<string, string>) => [domain, id]);
    expect(Object.fromEntries(listed)).toEqual(SANDBOX_DOMAIN_IDS);
  });

  test('answers cursors of an earlier run with 410: they were called another list’s, and no client began again', async () => {
    const { store } = await openSandbox(TODAY);
    const earlier = await startApi({ store });
    onTestFinished(() => earlier.close());
    for (const list of [
      '/changes?after=',
      `/domains/${EXAMPLE}/reports?received_after=`,
      '/alerts?changed_after=',
    ]) {
      const { headers } = await earlier.get(`/v1/external${list}start`, { key: SANDBOX_KEY });
      const { status, body } = await get(list + headers['plumbline-cursor']);
      expect([status, body.error.code]).toEqual([410, 'cursor_expired']);
    }
  });

  test('has an audit whose first entries are those of its account, key and domains', async () => {
    const entries = await api.db.selectFrom('audit').select(['action', 'at']).execute();
    const first = entries.filter(({ at }) => at === '2025-12-18T00:00:00Z');
    expect(first.map(({ action }) => action).sort()).toEqual([
      ...['account_created', 'domain_added', 'domain_added', 'key_created'],
    ]);
    expect(entries.filter(({ at }) => at < '2025-12-18T00:00:00Z')).toEqual([]);
  });

  test('has ninety days of reports of four reporters, one of which leaves out its name', async () => {
    const { items } = await walk(get, `/domains/${EXAMPLE}/reports`, 200);
    const reports = items as Record<string, string | null>[];
    expect(reports).toHaveLength(360);
    expect(reports.at(0)?.['begin_date']).toBe('2026-03-17T00:00:00Z');
    expect(new Set(reports.map((report) => report['reporter_org'])).size).toBe(4);
    expect(reports.filter((report) => report['reporter_org'] === null)).toHaveLength(90);
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

  test('has the same figures on every day of the week and at every hour', async () => {
    const seen = new Set<string>();
    // Each start takes seconds. The first three of these days are a Thursday to a Saturday.
    for (let day = 1; day <= caseCount({ few: 3, full: 7 }); day++) {
      const start = new Date(TODAY.getTime() + day * 86_400_000 + day * 7_000_000);
      seen.add(JSON.stringify(await readFigures(start)));
    }
    expect(seen.size).toBe(1);
  }, 120_000);
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

/** Everything in a sandbox that is not a time or made from one. */
async function readFigures(start: Date): Promise<unknown> {
  const { store } = await openSandbox(start);
  const { get, close } = await startApi({ store });
  const read = async (path: string) => {
    const { items } = await walk((at) => get(at, { key: SANDBOX_KEY }), `/v1/external${path}`, 200);
    return items.map((item) => toFigures(item));
  };
  const figures = [await read(`/domains/${EXAMPLE}/reports`), await read('/alerts')];
  await close();
  return figures;
}

const OF_A_DAY = /^(id|begin_date|end_date|fired_at|resolved_at|day)$/;

function toFigures(item: unknown): unknown {
  const names = (key: string, value: unknown) => (OF_A_DAY.test(key) ? typeof value : value);
  return JSON.parse(JSON.stringify(item, names));
}

describe('the key of the sandbox', () => {
  test('has the format of every key, so that clients and scanners accept it', () => {
    expect(isApiKey(SANDBOX_KEY)).toBe(true);
  });

  test('is valid in a sandbox only', async () => {
    const { db, get } = await serveApi();
    await anAccount(db);
    const { status } = await get('/v1/external/domains', { key: SANDBOX_KEY });
    expect(status).toBe(401);
  });
});

describe('plumbline serve --sandbox', () => {
  test('prints commands to paste, serves no settings, leaves no file, and stops on SIGTERM', async () => {
    const { start, folder } = await aCommand();
    const child = start('serve', '--sandbox');
    const ended = finish(child);
    const text = await printed(child, /Ctrl\+C/);
    const url = /PLUMBLINE_BASE_URL=(.+)/.exec(text)?.[1];
    expect(text).toContain(`PLUMBLINE_API_KEY=${SANDBOX_KEY}`);
    expect(text).toContain(`DOMAIN_ID=${EXAMPLE}`);
    const headers = { authorization: `Bearer ${SANDBOX_KEY}` };
    const answer = await fetch(`${url}/v1/external/domains`, { headers });
    expect(await answer.json()).toMatchObject({ total: 3 });
    expect((await fetch(`${url}/settings`, { redirect: 'manual' })).status).toBe(404);
    child.kill('SIGTERM');
    expect((await ended).status).toBe(0);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('a server without the flag has settings', async () => {
    const { server } = await runServer();
    expect((await fetch(`${server.url}/settings/sign-in`)).status).toBe(200);
  });
});
