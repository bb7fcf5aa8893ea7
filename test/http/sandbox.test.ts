import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { SANDBOX_KEY } from '../../src/domain/sandbox.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { type Api, serveApi } from '../support/api.ts';
import { anAccount } from '../support/builders.ts';

const SERVICE = '/v1/external/domains';
const SANDBOX = '/sandbox/v1/external/domains';
const MISSING = 'Missing or invalid API key.';
const OF_SANDBOX = 'This key is for the sandbox, at /sandbox/v1/external.';
const IN_SANDBOX = 'This is the sandbox: it takes the key that the docs print.';
/** A test key with a right checksum, and a wrong one. */
const OTHER_TEST_KEYS = [SANDBOX_KEY.replace(/S$/, 'T'), 'plb_test_'];

const message = async (api: Api, path: string, key?: string) => {
  const { status, headers, body } = await api.get(path, { key });
  expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer']);
  return body.error.message;
};

describe('keys', () => {
  test('of the sandbox are a 401 at the service, and those of accounts in the sandbox; each says so', async () => {
    const api = await serveApi();
    const { key } = await anAccount(api.db);
    expect((await api.get(SERVICE, { key })).status).toBe(200);
    expect((await api.get(SANDBOX, { key: SANDBOX_KEY })).status).toBe(200);
    for (const one of [SANDBOX_KEY, ...OTHER_TEST_KEYS])
      expect(await message(api, SERVICE, one)).toBe(OF_SANDBOX);
    for (const one of [key, 'plb_live_']) expect(await message(api, SANDBOX, one)).toBe(IN_SANDBOX);
    for (const one of OTHER_TEST_KEYS) expect(await message(api, SANDBOX, one)).toBe(MISSING);
    for (const path of [SERVICE, SANDBOX])
      for (const one of [undefined, 'nothing']) expect(await message(api, path, one)).toBe(MISSING);
  });

  test('the service accepts no key of the sandbox, even if its database has one', async () => {
    const api = await serveApi();
    const { keyId } = await anAccount(api.db);
    const { toNewApiKey } = await import('../../src/domain/access/api-key.ts');
    const { sha256 } = toNewApiKey(SANDBOX_KEY);
    await api.db.write((tx) =>
      tx.updateTable('api_key').set({ sha256 }).where('id', '=', keyId).execute(),
    );
    expect(await message(api, SERVICE, SANDBOX_KEY)).toBe(OF_SANDBOX);
  });
});

describe('limits', () => {
  test('of an address are one for both, and those of a key are not', async () => {
    const api = await serveApi({ requestsPerIp: 5, requestsPerKey: 2 });
    const { key } = await anAccount(api.db);
    const statuses = [];
    for (const [path, sent] of [
      [SERVICE, key],
      [SERVICE, key],
      [SANDBOX, SANDBOX_KEY],
      [SANDBOX, SANDBOX_KEY],
      [SANDBOX, SANDBOX_KEY],
      [SANDBOX, SANDBOX_KEY],
      [SERVICE, key],
    ] as const)
      statuses.push((await api.get(path, { key: sent })).headers['ratelimit']?.match(/r=\d+/g));
    const left = (...rest: number[]) => rest.map((r) => `r=${r}`);
    expect(statuses).toEqual([
      ...[left(4, 1), left(3, 0), left(2, 1), left(1, 0), left(0, 0), left(0), left(0)],
    ]);
  });

  test('of the key that everybody has are for each address', async () => {
    const api = await serveApi({ requestsPerKey: 1, trustedProxies: ['127.0.0.1'] });
    const ask = async (address: string) =>
      (await api.get(SANDBOX, { key: SANDBOX_KEY, headers: { 'X-Forwarded-For': address } }))
        .status;
    expect([await ask('192.0.2.1'), await ask('192.0.2.1'), await ask('192.0.2.2')]).toEqual([
      ...[200, 429, 200],
    ]);
  });
});

test('requests are in the log and in metrics as those of the sandbox', async () => {
  const metrics = createMetrics();
  const api = await serveApi({ metrics });
  await api.get(SANDBOX, { key: SANDBOX_KEY });
  await api.get(SANDBOX);
  await api.get(SERVICE);
  const lines = api.logged.map(({ path, sandbox, key }) => ({ path, sandbox, key }));
  expect(lines).toEqual([
    { path: SANDBOX, sandbox: true, key: 'plb_test_Sand' },
    { path: SANDBOX, sandbox: true, key: undefined },
    { path: SERVICE, sandbox: undefined, key: undefined },
  ]);
  const counted = (await metrics.registry.metrics()).match(
    /^plumbline_http_requests_total.* [1-9]\d*$/gm,
  );
  expect(counted?.sort()).toEqual([
    'plumbline_http_requests_total{operation="invalid",sandbox="yes",status="401"} 1',
    'plumbline_http_requests_total{operation="invalid",status="401"} 1',
    'plumbline_http_requests_total{operation="listDomains",sandbox="yes",status="200"} 1',
  ]);
});

test('nothing of it is in the database of the service', async () => {
  const api = await serveApi();
  await anAccount(api.db);
  const read = () =>
    Promise.all(
      (['account', 'api_key', 'domain', 'report', 'alert', 'change', 'audit'] as const).map(
        (table) => api.db.selectFrom(table).selectAll().execute(),
      ),
    );
  const before = await read();
  for (const path of ['/domains', '/overview', '/changes', '/alerts', '/key'])
    expect((await api.get(`/sandbox/v1/external${path}`, { key: SANDBOX_KEY })).status).toBe(200);
  await api.flush();
  expect(await read()).toEqual(before);
});

test.each([
  ['/sandbox/v1/external/nothing', 404, 'No such path.'],
  ['/SANDBOX/v1/external/domains?limit=0', 422, /"limit" must be/],
])('%s answers as the service does', async (path, status, text) => {
  const api = await serveApi();
  const answer = await api.get(path, { key: SANDBOX_KEY });
  expect(answer).toMatchObject({
    status,
    body: { error: { message: expect.stringMatching(text) } },
  });
});

test.each(['/sandbox/v2', '/sandbox/v1/x', '/sandbox/v1/externals', '/sandboxes'])(
  '%s is not the sandbox’s API',
  async (path) => {
    const { status, body } = await (await serveApi()).send(path, { key: SANDBOX_KEY });
    expect([status, body.error.message]).toEqual([404, 'No such path.']);
  },
);

test('a server whose operator has turned it off says so', async () => {
  const api = await serveApi({ hasSandbox: false });
  const { status, body } = await api.send(SANDBOX, { key: SANDBOX_KEY });
  expect([status, body.error]).toEqual([
    404,
    { code: 'not_found', message: 'This server has no sandbox.' },
  ]);
  expect(await message(api, SERVICE, SANDBOX_KEY)).toBe(OF_SANDBOX);
});

test('the service answers while the data is made, and requests of the sandbox wait together', async () => {
  const api = await serveApi();
  const { key } = await anAccount(api.db);
  let isMade = false;
  const waiting = Array.from({ length: 20 }, () =>
    api.get(SANDBOX, { key: SANDBOX_KEY }).finally(() => (isMade = true)),
  );
  const statuses = [];
  for (const path of ['/healthz', SERVICE]) statuses.push((await api.send(path, { key })).status);
  expect(statuses).toEqual([200, 200]);
  expect(isMade).toBe(false);
  expect(new Set((await Promise.all(waiting)).map(({ status }) => status))).toEqual(new Set([200]));
});

test('a request that has waited long enough is a 503, and a later one gets the data', async () => {
  const api = await serveApi({ sandboxWaitMs: 0 });
  const { status, headers } = await api.get(SANDBOX, { key: SANDBOX_KEY });
  expect([status, headers['retry-after']]).toEqual([503, '5']);
  const ask = async () => (await api.get(SANDBOX, { key: SANDBOX_KEY })).status;
  await expect.poll(ask).toBe(200);
});

test('that the data cannot be made is one line of the log and a 503, is tried again later, and harms nothing else', async () => {
  // Reports of ninety days before this one are refused: their time would be negative.
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('1970-01-02T00:00:00Z') });
  onTestFinished(() => void vi.useRealTimers());
  const api = await serveApi();
  const { key } = await anAccount(api.db);
  const ask = async () => {
    const { status, headers } = await api.get(SANDBOX, { key: SANDBOX_KEY });
    return [status, headers['retry-after']];
  };
  expect([await ask(), await ask()]).toEqual([
    [503, '5'],
    [503, '5'],
  ]);
  expect((await api.get(SERVICE, { key })).status).toBe(200);
  const failures = api.logged.filter(({ msg }) => msg === 'the sandbox could not be made');
  expect(failures).toEqual([
    expect.objectContaining({ reason: expect.stringContaining('The demo') }),
  ]);
  expect(api.logged.filter(({ msg }) => msg === 'unexpected error')).toEqual([]);
  vi.setSystemTime(new Date('2026-03-18T09:00:00Z'));
  await vi.waitFor(async () => expect((await ask())[0]).toBe(200), 200_000);
});
