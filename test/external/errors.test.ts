import { beforeAll, describe, expect, test } from 'vitest';
import { Failure } from '../../src/domain/failure.ts';
import { toReportId } from '../../src/domain/reports/report-identity.ts';
import { removeDomain } from '../../src/store/domains/removed-domains.ts';
import { runHere } from '../../src/store/engine/aside.ts';
import { openStore } from '../../src/store/engine/open.ts';
import type { Reader } from '../../src/store/engine/reader.ts';
import { noteDoor } from '../../src/store/inbox/doors.ts';
import { removeReport } from '../../src/store/reports/corrections.ts';
import { type Api, serveApi, startApi } from '../support/api.ts';
import {
  aDomain,
  anAccount,
  anAlert,
  aReport,
  NOW,
  receive,
  type TestAccount,
} from '../support/builders.ts';
import { listPaths, pathTemplates, toPath } from '../support/contract-document.ts';
import { aDatabase, openTestStore } from '../support/store.ts';
import { aReadTlsReport } from '../support/tls-report.ts';

const PATH = '/v1/external/domains';
const NOBODYS = 'f0000000-0000-4000-8000-00000000000f';

/** An API with an account, for tables of requests that change nothing. */
function shareAccount(): Shared {
  const shared = {} as Shared;
  beforeAll(async () => {
    const api = await startApi();
    Object.assign(shared, api, await anAccount(api.db));
    return api.close;
  });
  return shared;
}
type Shared = Api & TestAccount;

async function serveAccount(wanted: Parameters<typeof serveApi>[0] = {}) {
  const api = await serveApi(wanted);
  return { ...api, ...(await anAccount(api.db)) };
}

describe('404, an unknown path', () => {
  const shared = shareAccount();

  test.each([
    '/v1/external',
    '/v1/external/',
    '/v1/external/nothing',
    '/v1/external/domains/',
    '/v1/external//domains',
    '/v1/external/Domains',
    '/V1/External/domains',
    '/v1/external/domains/x/y',
    '/v1/external/domains//reports',
    '/v1/external/domains/x/reports/',
    '/v1/external/domains/x/reports/y',
    '/v1/external/domains/x/y/reports',
    '/v1/external/alerts/x',
    '/v1/external/reports/x',
    '/v1/external/domain',
    '/v1/external/domains%2F',
    '/v1/external/%64omains',
    '/v1/external/domains;x=1',
    '/v1/external/%',
    '/v1/external/%zz',
    '/v1/external/%00',
    '/v1/external/__proto__',
    '/v1/external/constructor',
  ])('%s', async (path) => {
    const { get, key } = shared;
    const { status, body } = await get(path, { key });
    expect(status).toBe(404);
    expect(body).toEqual({ error: { code: 'not_found', message: 'No such path.' } });
  });

  test('is 404 for every method', async () => {
    const { get, key } = shared;
    for (const method of ['HEAD', 'POST', 'DELETE', 'OPTIONS']) {
      expect((await get('/v1/external/nothing', { key, method })).status).toBe(404);
    }
  });
});

describe('410', () => {
  const shared = shareAccount();

  test('a cursor from before a report or an alert was removed', async () => {
    const { db, get, id: accountId, key } = shared;
    const domain = await aDomain(db, accountId);
    const report = aReport({ domain: domain.name });
    await receive(db, [report]);
    await anAlert(db, { accountId, domainId: domain.id });
    const follow = async (list: string) => {
      const { headers } = await get(`${list}=start`, { key });
      return () => get(`${list}=${headers['plumbline-cursor']}`, { key });
    };
    const again = [
      await follow(`${PATH}/${domain.id}/reports?received_after`),
      await follow('/v1/external/alerts?changed_after'),
    ];
    for (const ask of again) expect((await ask()).status).toBe(200);
    await removeReport(db, toReportId(report), NOW);
    await removeDomain(db, (await aDomainWithAlert(db, accountId)).id);
    for (const ask of again) {
      const { status, body } = await ask();
      expect([status, body.error.code]).toEqual([410, 'cursor_expired']);
    }
  });
});

test.each([
  ['received_after', 'a report of the list', 410],
  ['received_after', 'the domain', 404],
  ['offset', 'the domain', 404],
])(
  'a page by %s, whose head was read before %s was removed, was a 500',
  async (by, what, wanted) => {
    const store = await openTestStore();
    const account = await anAccount(store.db);
    const domain = await aDomain(store.db, account.id);
    const reports = [aReport({ domain: domain.name }), aReport({ domain: domain.name })] as const;
    await receive(store.db, reports);
    const remove = () =>
      what === 'the domain'
        ? removeDomain(store.db, domain.id)
        : removeReport(store.db, toReportId(reports[0]), NOW);
    let isRemoved = true;
    const { reader } = store;
    const { get } = await serveApi({
      store: {
        ...store,
        reader: {
          readFirst: (query) => reader.readFirst(query),
          readAll: (query) => reader.readAll(query),
          readPlan: (plan) => reader.readPlan(plan),
          readNoOlder: async (...asked) => {
            if (!isRemoved) await remove();
            return await reader.readNoOlder(...asked);
          },
        },
      },
    });
    const ask = (query: string) =>
      get(`${PATH}/${domain.id}/reports?${query}`, { key: account.key });
    const { headers } = await ask('received_after=start&limit=1');
    isRemoved = false;
    const query = by === 'offset' ? 'offset=1' : `received_after=${headers['plumbline-cursor']}`;
    expect((await ask(query)).status).toBe(wanted);
  },
);

async function aDomainWithAlert(db: Api['db'], accountId: string) {
  const domain = await aDomain(db, accountId);
  await anAlert(db, { accountId, domainId: domain.id });
  return domain;
}

describe('405', () => {
  const shared = shareAccount();

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'])(
    '%s on every path: no operation writes',
    async (method) => {
      const { db, get, id, key } = shared;
      const domain = await aDomain(db, id);
      for (const path of listPaths({
        domain_id: domain.id,
        report_id: NOBODYS,
        tls_report_id: NOBODYS,
      })) {
        const { status, headers, body } = await get(path, { key, method });
        expect([status, headers['allow']]).toEqual([405, 'GET, HEAD']);
        expect(body.error.code).toBe('method_not_allowed');
      }
    },
  );

  test('X-HTTP-Method-Override is ignored', async () => {
    const { get, key } = shared;
    const headers = { 'X-HTTP-Method-Override': 'GET' };
    expect((await get(PATH, { key, method: 'POST', headers })).status).toBe(405);
  });
});

describe('the order of checks', () => {
  const UNKNOWN = '/v1/external/nothing';

  test('the limit per address comes before the key', async () => {
    const { get } = await serveAccount({ requestsPerIp: 1 });
    expect((await get(PATH)).status).toBe(401);
    expect((await get(PATH)).status).toBe(429);
  });

  test('the key comes before path, method, parameters and domain', async () => {
    const { get } = await serveAccount();
    const statuses = [
      (await get(UNKNOWN)).status,
      (await get(PATH, { method: 'POST' })).status,
      (await get(`${PATH}?limit=0`)).status,
      (await get(`${PATH}/${NOBODYS}/reports`)).status,
    ];
    expect(statuses).toEqual([401, 401, 401, 401]);
  });

  test('the key comes before the limit per key', async () => {
    const { get, key } = await serveAccount({ requestsPerKey: 1 });
    expect((await get(PATH, { key })).status).toBe(200);
    expect((await get(PATH, { key })).status).toBe(429);
    expect((await get(PATH)).status).toBe(401);
  });

  test('the limit per key comes before path, method, parameters and domain', async () => {
    const { get, key } = await serveAccount({ requestsPerKey: 1 });
    await get(PATH, { key });
    const statuses = [
      (await get(UNKNOWN, { key })).status,
      (await get(PATH, { key, method: 'POST' })).status,
      (await get(`${PATH}?limit=0`, { key })).status,
      (await get(`${PATH}/${NOBODYS}/reports`, { key })).status,
    ];
    expect(statuses).toEqual([429, 429, 429, 429]);
  });

  test('the key comes before everything that looks like a path of the API', async () => {
    const { send, key } = await serveAccount();
    for (const path of ['/v1/external', '/v1/external?x', '/V1/External/domains', `${PATH}//x`]) {
      expect((await send(path)).status).toBe(401);
      expect((await send(path, { key })).status).toBe(404);
    }
    for (const path of ['/v1/externals', '/v1/x', '/v2'])
      expect((await send(path)).status).toBe(404);
  });

  test('path and method come before parameters', async () => {
    const { get, key } = await serveAccount();
    expect((await get(`${UNKNOWN}?limit=0`, { key })).status).toBe(404);
    expect((await get(`${PATH}?limit=0`, { key, method: 'POST' })).status).toBe(405);
    expect((await get(`${PATH}/x/reports`, { key, method: 'POST' })).status).toBe(405);
  });

  test('parameters come before the domain look-up', async () => {
    const { get, key } = await serveAccount();
    const statuses = [
      (await get(`${PATH}/${NOBODYS}/reports?limit=0`, { key })).status,
      (await get(`/v1/external/alerts?domain_id=${NOBODYS}&offset=-1`, { key })).status,
      (await get(`${PATH}/${NOBODYS}/reports`, { key })).status,
    ];
    expect(statuses).toEqual([422, 422, 404]);
  });
});

describe('503', () => {
  test.each([
    ['stays busy', new Failure('unavailable', 'The database is busy.')],
    ['has ended the connection', Object.assign(new Error('busy'), { code: '57P01' })],
    ['has no connection left', Object.assign(new Error('busy'), { code: '53300' })],
    ['refuses connections', Object.assign(new Error('busy'), { code: 'ECONNREFUSED' })],
  ])('a database that %s', async (_what, error) => {
    const busy = () => Promise.reject(error);
    const store = await openTestStore();
    const { key } = await anAccount(store.db);
    const reader = { ...store.reader, readFirst: busy, readAll: busy };
    const { get, logged } = await serveApi({ store: { ...store, reader } });
    const { status, headers, body } = await get(PATH, { key });
    expect([status, body.error.code, headers['retry-after']]).toEqual([503, 'unavailable', '5']);
    expect(JSON.stringify(body)).not.toContain('busy');
    expect(logged.some(({ msg }) => msg === 'unexpected error')).toBe(true);
  });
});

describe('500', () => {
  const SECRET = 'SQLITE_CORRUPT at /var/lib/secret.db, line 42';

  /** The real reader, which fails on demand. */
  function breakable(reader: Reader, isBroken: () => boolean, error = new Error(SECRET)): Reader {
    const breakWhenAsked = () => {
      if (isBroken()) throw error;
    };
    return {
      readFirst: async (query) => {
        breakWhenAsked();
        return await reader.readFirst(query);
      },
      readAll: async (query) => {
        breakWhenAsked();
        return await reader.readAll(query);
      },
      readPlan: async (plan) => {
        breakWhenAsked();
        return await reader.readPlan(plan);
      },
      readNoOlder: async (...asked) => {
        breakWhenAsked();
        return await reader.readNoOlder(...asked);
      },
    };
  }

  /** An API whose store answers this many reads and then fails. */
  async function serveBroken(readsBefore: number, error?: Error) {
    const store = await openTestStore();
    const account = await anAccount(store.db);
    const domain = await aDomain(store.db, account.id);
    const [report, tls] = [
      aReport({ domain: domain.name }),
      aReadTlsReport({ domain: domain.name }),
    ];
    await receive(store.db, [report, tls]);
    let reads = 0;
    const reader = breakable(store.reader, () => ++reads > readsBefore, error);
    const ids = {
      domain_id: domain.id,
      report_id: toReportId(report),
      tls_report_id: toReportId(tls),
    };
    const broken = { ...store, reader, aside: runHere(reader) };
    return { ...(await serveApi({ store: broken })), ...account, ids };
  }

  const loggedErrors = ({ logged }: Pick<Api, 'logged'>) =>
    logged.filter((line) => line['msg'] === 'unexpected error');

  const MOMENTS = [
    { when: 'the key is looked up', reads: 0 },
    { when: 'the list is looked up', reads: 1 },
    { when: 'the page is read', reads: 2 },
  ];
  test.each(pathTemplates.flatMap((list) => MOMENTS.map((moment) => ({ list, ...moment }))))(
    '$list, when the store fails while $when: no details in the answer, and a line in the log',
    async ({ list, reads }) => {
      const { get, key, logged, ids } = await serveBroken(reads);
      const path = toPath(list, ids);
      const { status, headers, text, body } = await get(path, {
        key,
        headers: { 'X-Request-Id': 'broken-1' },
      });
      expect(status).toBe(500);
      expect(body).toEqual({
        error: { code: 'internal_error', message: 'Unexpected server error.' },
      });
      expect(JSON.stringify(headers) + text).not.toMatch(/SQLITE|secret|line 42|\.ts/);
      const [line] = loggedErrors({ logged });
      expect(line?.['request_id']).toBe('broken-1');
      expect(JSON.stringify(line?.['err'])).toContain(SECRET);
    },
  );

  test.each(pathTemplates)(
    '%s, while the database cannot be reached: a 503 that says when',
    async (list) => {
      const refused = new Failure('unavailable', SECRET);
      const { get, key, logged, ids } = await serveBroken(1, refused);
      const path = toPath(list, ids);
      const { status, headers, body, text } = await get(path, { key });
      expect([status, headers['retry-after'], body.error.code]).toEqual([503, '5', 'unavailable']);
      expect(text).not.toContain(SECRET);
      expect(loggedErrors({ logged })).toHaveLength(1);
    },
  );

  test('one failed request does not affect the next ones', async () => {
    const store = await openTestStore();
    const { key } = await anAccount(store.db);
    let isBroken = true;
    const reader = breakable(store.reader, () => isBroken);
    const { get } = await serveApi({ store: { ...store, reader } });
    expect((await get(PATH, { key })).status).toBe(500);
    isBroken = false;
    expect((await get(PATH, { key })).status).toBe(200);
  });

  test('a failing store is never a 401', async () => {
    const { get, key } = await serveBroken(0);
    expect((await get(PATH, { key })).status).toBe(500);
    expect((await get(PATH)).status).toBe(401);
  });

  test('a mistyped key is a 401 then too: its checksum is wrong, so it is not looked up', async () => {
    const { get, key } = await serveBroken(0);
    const mistyped = key.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    expect((await get(PATH, { key: mistyped })).status).toBe(401);
  });
});

describe('X-Request-Id', () => {
  const shared = shareAccount();

  test.each(['a', 'nightly-sync_0042', 'A'.repeat(64), '-', '_'])('%s is kept', async (id) => {
    const { get, key } = shared;
    const { headers } = await get(PATH, { key, headers: { 'X-Request-Id': id } });
    expect(headers['x-request-id']).toBe(id);
  });

  test('is kept on every path', async () => {
    const { db, get, id, key } = shared;
    const domain = await aDomain(db, id);
    for (const path of listPaths({
      domain_id: domain.id,
      report_id: NOBODYS,
      tls_report_id: NOBODYS,
    })) {
      const { headers } = await get(path, { key, headers: { 'X-Request-Id': 'mine' } });
      expect(headers['x-request-id'], path).toBe('mine');
    }
  });

  test.each(['', 'A'.repeat(65), 'a b', 'a.b', 'a,b', 'é', '{"a":1}', 'a/b', 'a=b', '%0A'])(
    '%j is replaced',
    async (id) => {
      const { get, key } = shared;
      const { headers } = await get(PATH, { key, headers: { 'X-Request-Id': id } });
      expect(headers['x-request-id']).not.toBe(id);
    },
  );

  test('every answer has a new one, including errors and 304', async () => {
    const { get, send, key } = shared;
    const answers = [
      await get(PATH, { key }),
      await get(PATH, { key, headers: { 'If-None-Match': '*' } }),
      await get(PATH),
      await get('/v1/external/nothing', { key }),
      await get(`${PATH}?limit=0`, { key }),
      await send('/nothing'),
      await send('/healthz'),
    ];
    const ids = answers.map(({ headers }) => headers['x-request-id']);
    expect(ids.every((id) => /^[A-Za-z0-9_-]{1,64}$/.test(id ?? ''))).toBe(true);
    expect(new Set(ids).size).toBe(answers.length);
  });

  test('is in the log, with method, path and status, without query and key', async () => {
    const { get, key, logged } = await serveAccount();
    await get(`${PATH}/${key}/reports?x=${key}`, { key, headers: { 'X-Request-Id': 'mine' } });
    await expect.poll(() => logged.length).toBe(1);
    expect(logged[0]).toMatchObject({ request_id: 'mine', method: 'GET', status: 422 });
    expect(logged[0]?.['path']).toBe(`${PATH}/plb_live_…/reports`);
    expect(JSON.stringify(logged)).not.toContain(key.slice(9));
  });

  test('a key as request id is kept in the answer, and is not in the log', async () => {
    const { get, key, logged } = await serveAccount();
    const { headers } = await get(PATH, { key, headers: { 'X-Request-Id': key } });
    expect(headers['x-request-id']).toBe(key);
    await expect.poll(() => logged.length).toBe(1);
    expect(logged[0]?.['request_id']).toBe('plb_live_…');
    expect(JSON.stringify(logged)).not.toContain(key.slice(9));
  });
});

describe('outside the external API', () => {
  const shared = shareAccount();

  test('GET /healthz: 200 while the process runs', async () => {
    const { send } = shared;
    const { status, body } = await send('/healthz');
    expect([status, body]).toEqual([200, { status: 'ok' }]);
  });

  test('GET /readyz: 200 while the store answers', async () => {
    const { send } = shared;
    const { status, body } = await send('/readyz');
    expect([status, body]).toEqual([200, { status: 'ready' }]);
  });

  test('GET /readyz: 200 while a door fails, with the kind of the door and nothing more of it', async () => {
    const { send, db } = await serveApi();
    await noteDoor(db, 'smtp');
    await noteDoor(db, 'folder:/srv/drop', 'there is no such file or folder');
    const { status, body } = await send('/readyz');
    expect([status, body]).toEqual([200, { status: 'ready', failing_doors: ['folder'] }]);
  });

  test('GET /readyz: 503 when the store does not answer, and when the process stops', async () => {
    const store = await openStore(await aDatabase());
    const closed = await serveApi({ store });
    await store.close();
    const stopping = await serveApi({ isStopping: () => true });
    for (const { send } of [closed, stopping]) {
      const { status, body } = await send('/readyz');
      expect([status, body]).toEqual([503, { status: 'unavailable' }]);
      expect((await send('/healthz')).status).toBe(200);
    }
  });

  test.each([
    '/nothing',
    '/v1/x',
    '/v1/x/',
    '/v2/external/domains',
    '/v1/externals',
    '//v1/external/domains',
    '/%',
    '/%zz',
  ])('%s: 404 with the API’s error body, without a key', async (path) => {
    const { send } = shared;
    const { status, headers, body } = await send(path);
    expect([status, headers['cache-control']]).toEqual([404, 'no-store']);
    expect(body).toEqual({ error: { code: 'not_found', message: 'No such path.' } });
  });

  test('every answer has helmet’s headers, and none names the server software', async () => {
    const { get, send, key } = shared;
    const answers = [
      await get(PATH, { key }),
      await get(PATH, { key, headers: { 'If-None-Match': '*' } }),
      await get(PATH),
      await send('/nothing'),
      await send('/healthz'),
    ];
    for (const { headers } of answers) {
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none';frame-ancestors 'none'",
        'strict-transport-security': expect.stringContaining('max-age='),
        'referrer-policy': 'no-referrer',
      });
      expect(headers).not.toHaveProperty('x-powered-by');
      expect(headers).not.toHaveProperty('server');
    }
  });
});
