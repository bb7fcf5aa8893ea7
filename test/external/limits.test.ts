import { beforeEach, describe, expect, test, vi } from 'vitest';
import { updateApiKey } from '../../src/store/accounts/api-keys.ts';
import { type Answer, serveApi } from '../support/api.ts';
import { aDomain, aKey, anAccount, UNKNOWN_ID } from '../support/builders.ts';
import { listPaths, pathTemplates } from '../support/contract-document.ts';

const PATH = '/v1/external/domains';

/** Time passes only when a test says so. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  vi.setSystemTime('2026-03-15T12:00:00Z');
  return () => void vi.useRealTimers();
});
const wait = (seconds: number) => vi.advanceTimersByTime(seconds * 1000);

interface Limits {
  readonly requestsPerIp?: number;
  readonly requestsPerKey?: number;
  readonly trustedProxies?: readonly string[];
}

async function serveLimited(limits: Limits) {
  const api = await serveApi(limits);
  const account = await anAccount(api.db);
  const ask = (headers: Record<string, string> = {}, path = PATH) =>
    api.get(path, { key: account.key, headers });
  /** Statuses of this many requests. */
  const askTimes = async (times: number, headers: Record<string, string> = {}) => {
    const statuses: number[] = [];
    for (let i = 0; i < times; i++) statuses.push((await ask(headers)).status);
    return statuses;
  };
  return { ...api, account, ask, askTimes };
}

const left = ({ headers }: Answer) => [headers['ratelimit'], headers['ratelimit-policy']];

describe('60 requests a minute for each API key', () => {
  test('the 61st is rejected with 429 rate_limited and Retry-After: 60', async () => {
    const { ask, askTimes } = await serveLimited({ requestsPerIp: 200, requestsPerKey: 60 });
    expect(new Set(await askTimes(60))).toEqual(new Set([200]));
    const refused = await ask();
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe('60');
    expect(refused.body).toEqual({
      error: {
        code: 'rate_limited',
        message: 'More than 60 requests a minute with this API key. Try again in 60 seconds.',
      },
    });
  });

  test('a minute after the first request the whole limit is available again', async () => {
    const { askTimes } = await serveLimited({ requestsPerKey: 3 });
    expect(await askTimes(4)).toEqual([200, 200, 200, 429]);
    wait(59);
    expect(await askTimes(1)).toEqual([429]);
    wait(1);
    expect(await askTimes(4)).toEqual([200, 200, 200, 429]);
  });

  test.each([-86_400, 86_400])(
    'a clock that somebody sets, by %i s, made a key wait for as long, or forgot its requests',
    async (seconds) => {
      const { ask, askTimes } = await serveLimited({ requestsPerKey: 2 });
      expect(await askTimes(3)).toEqual([200, 200, 429]);
      vi.setSystemTime(Date.now() + seconds * 1000);
      const refused = await ask();
      expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60']);
      wait(60);
      expect(await askTimes(3)).toEqual([200, 200, 429]);
    },
  );

  test('rejected requests never extend the wait', async () => {
    const { askTimes } = await serveLimited({ requestsPerKey: 2 });
    expect(await askTimes(2)).toEqual([200, 200]);
    for (let second = 0; second < 59; second++) {
      wait(1);
      expect(await askTimes(2)).toEqual([429, 429]);
    }
    wait(1);
    expect(await askTimes(1)).toEqual([200]);
  });

  test('a request after the time in Retry-After is accepted', async () => {
    const { ask, askTimes } = await serveLimited({ requestsPerKey: 1 });
    await askTimes(1);
    wait(30);
    wait(Number((await ask()).headers['retry-after']));
    expect(await askTimes(1)).toEqual([200]);
  });

  test('counts all endpoints together', async () => {
    const requestsPerKey = pathTemplates.length;
    const { db, account, ask } = await serveLimited({ requestsPerKey });
    const { id: domain_id } = await aDomain(db, account.id);
    const endpoints = listPaths({ domain_id, report_id: UNKNOWN_ID, tls_report_id: UNKNOWN_ID });
    const statuses = [];
    for (const path of [...endpoints, ...endpoints]) statuses.push((await ask({}, path)).status);
    const wanted = endpoints.map((path) => (path.includes(UNKNOWN_ID) ? 404 : 200));
    expect(statuses).toEqual([...wanted, ...Array(requestsPerKey).fill(429)]);
  });

  test('each key has its own limit, also within one account', async () => {
    const { db, account, askTimes, get } = await serveLimited({ requestsPerKey: 2 });
    const { key } = await aKey(db, account.id);
    expect(await askTimes(3)).toEqual([200, 200, 429]);
    expect((await get(PATH, { key })).status).toBe(200);
  });

  test('counts 304, 404, 405 and 422 as well', async () => {
    const { get, ask, askTimes, account } = await serveLimited({ requestsPerKey: 4 });
    const statuses = [
      (await ask({ 'If-None-Match': '*' })).status,
      (await ask({}, '/v1/external/nothing')).status,
      (await get(PATH, { key: account.key, method: 'DELETE' })).status,
      (await ask({}, `${PATH}?limit=0`)).status,
      ...(await askTimes(1)),
    ];
    expect(statuses).toEqual([304, 404, 405, 422, 429]);
  });

  test('a disabled key does not use its limit', async () => {
    const { db, account, askTimes } = await serveLimited({ requestsPerKey: 2 });
    await updateApiKey(db, account.keyId, false);
    expect(await askTimes(3)).toEqual([401, 401, 401]);
    await updateApiKey(db, account.keyId, true);
    expect(await askTimes(3)).toEqual([200, 200, 429]);
  });
});

describe('200 requests a minute for each IP address', () => {
  test('the 201st is rejected with 429 rate_limited and Retry-After: 60', async () => {
    const { askTimes, ask } = await serveLimited({ requestsPerIp: 200 });
    expect(new Set(await askTimes(200))).toEqual(new Set([200]));
    const refused = await ask();
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60']);
    expect(refused.body).toEqual({
      error: {
        code: 'rate_limited',
        message: 'More than 200 requests a minute from this IP address. Try again in 60 seconds.',
      },
    });
  });

  test('a minute later the whole limit is available again; rejected requests never extend the wait', async () => {
    const { askTimes } = await serveLimited({ requestsPerIp: 2 });
    expect(await askTimes(3)).toEqual([200, 200, 429]);
    wait(59);
    expect(await askTimes(3)).toEqual([429, 429, 429]);
    wait(1);
    expect(await askTimes(3)).toEqual([200, 200, 429]);
  });

  test('counts every request: without a key, to an unknown path, with another key', async () => {
    const { db, get, account, askTimes } = await serveLimited({ requestsPerIp: 3 });
    const { key } = await aKey(db, account.id);
    expect((await get(PATH)).status).toBe(401);
    expect((await get('/v1/external/nothing', { key })).status).toBe(404);
    expect((await get(PATH, { key: 'plb_live_x' })).status).toBe(401);
    expect(await askTimes(1)).toEqual([429]);
  });

  test('applies to external API traffic only', async () => {
    const { askTimes, send } = await serveLimited({ requestsPerIp: 1 });
    expect(await askTimes(2)).toEqual([200, 429]);
    expect((await send('/healthz')).status).toBe(200);
    expect((await send('/readyz')).status).toBe(200);
  });

  test('a request over the address limit does not count for the key', async () => {
    const trustedProxies = ['127.0.0.1'];
    const { askTimes } = await serveLimited({
      requestsPerIp: 1,
      requestsPerKey: 2,
      trustedProxies,
    });
    const from = (ip: string) => askTimes(1, { 'X-Forwarded-For': ip });
    expect(await from('192.0.2.1')).toEqual([200]);
    expect(await from('192.0.2.1')).toEqual([429]);
    expect(await from('192.0.2.2')).toEqual([200]);
    expect(await from('192.0.2.3')).toEqual([429]);
  });
});

describe('which address counts', () => {
  const trustedProxies = ['127.0.0.1', '192.0.2.0/24'];
  const UNTRUSTED = ['198.51.100.7'];

  /**
   * Two requests with these `X-Forwarded-For` headers, with a limit of one request per address: do they count
   * as one address?
   */
  test.each<[string, string, string, readonly string[], boolean]>([
    ['one IPv4 address', '203.0.113.1', '203.0.113.1', trustedProxies, true],
    ['two IPv4 addresses', '203.0.113.1', '203.0.113.2', trustedProxies, false],
    ['one /64', '2001:db8:1:1::1', '2001:db8:1:1:ffff:ffff:ffff:ffff', trustedProxies, true],
    ['two /64 of one /56', '2001:db8:1:1::1', '2001:db8:1:2::1', trustedProxies, false],
    [
      'one IPv6 address in two spellings',
      '2001:DB8:1:1:0::1',
      '2001:db8:1:1::1',
      trustedProxies,
      true,
    ],
    ['IPv4 inside IPv6, one', '::ffff:203.0.113.1', '203.0.113.1', trustedProxies, true],
    ['IPv4 inside IPv6, two', '::ffff:203.0.113.1', '::ffff:203.0.113.2', trustedProxies, false],
    [
      'entries that a client adds in front',
      '1, 203.0.113.1',
      '2, 203.0.113.1',
      trustedProxies,
      true,
    ],
    [
      'trusted proxies at the end',
      '203.0.113.1, 192.0.2.1',
      '203.0.113.2, 192.0.2.1',
      trustedProxies,
      false,
    ],
    ['no proxy is trusted', '203.0.113.1', '203.0.113.2', [], true],
    ['this proxy is not trusted', '203.0.113.1', '203.0.113.2', UNTRUSTED, true],
    [
      'a last hop that is not trusted',
      '203.0.113.1, 198.51.100.9',
      '203.0.113.2, 198.51.100.9',
      trustedProxies,
      true,
    ],
  ])('%s: %s and %s, trusting %j, count as one: %s', async (_what, a, b, trusted, isOne) => {
    const { askTimes } = await serveLimited({ requestsPerIp: 1, trustedProxies: trusted });
    expect(await askTimes(1, { 'X-Forwarded-For': a })).toEqual([200]);
    expect(await askTimes(1, { 'X-Forwarded-For': b })).toEqual([isOne ? 429 : 200]);
  });

  test.each(['', 'garbage', ',', '203.0.113.1:443', '[2001:db8::1]:443', 'unknown', '%00'])(
    'X-Forwarded-For: %j from a trusted proxy causes no error',
    async (value) => {
      const { askTimes } = await serveLimited({ requestsPerIp: 1, trustedProxies });
      expect(await askTimes(2, { 'X-Forwarded-For': value })).toEqual([200, 429]);
    },
  );

  test.each([
    ['an address with ports', (i: number) => `203.0.113.1:${i + 1}`],
    ['an IPv6 address with ports', (i: number) => `[2001:db8::1]:${i + 1}`],
    ['invalid entries of many kinds', (i: number) => `nonsense-${i}`],
  ])('%s counts under one address', async (_what, toValue) => {
    const { askTimes } = await serveLimited({ requestsPerIp: 3, trustedProxies });
    const statuses: number[] = [];
    for (let i = 0; i < 5; i++) {
      statuses.push(...(await askTimes(1, { 'X-Forwarded-For': toValue(i) })));
    }
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
  });

  test('Forwarded, X-Real-IP and similar headers are ignored', async () => {
    const { askTimes } = await serveLimited({ requestsPerIp: 1, trustedProxies });
    for (const name of ['Forwarded', 'X-Real-IP', 'CF-Connecting-IP', 'X-Client-IP']) {
      await askTimes(1, { [name]: '203.0.113.1' });
    }
    expect(await askTimes(1, { 'X-Real-IP': '203.0.113.200' })).toEqual([429]);
  });
});

describe('RateLimit and RateLimit-Policy', () => {
  test('show what is left of both policies, and when the window ends', async () => {
    const { ask } = await serveLimited({ requestsPerIp: 200, requestsPerKey: 60 });
    const policy = '"ip";q=200;w=60, "key";q=60;w=60';
    expect(left(await ask())).toEqual(['"ip";r=199;t=60, "key";r=59;t=60', policy]);
    wait(18);
    expect(left(await ask())).toEqual(['"ip";r=198;t=42, "key";r=58;t=42', policy]);
    wait(42);
    expect(left(await ask())).toEqual(['"ip";r=199;t=60, "key";r=59;t=60', policy]);
  });

  test('are on every answer: only for the address until a key was accepted', async () => {
    const { get, ask, account } = await serveLimited({ requestsPerIp: 9, requestsPerKey: 6 });
    const { key } = account;
    const answers = [
      await get(PATH),
      await ask({ 'If-None-Match': '*' }),
      await ask({}, '/v1/external/nothing'),
      await get(PATH, { key, method: 'POST' }),
      await ask({}, `${PATH}?limit=0`),
      await get(PATH, { key, method: 'HEAD' }),
    ];
    expect(answers.map((answer) => [answer.status, answer.headers['ratelimit']])).toEqual([
      [401, '"ip";r=8;t=60'],
      [304, '"ip";r=7;t=60, "key";r=5;t=60'],
      [404, '"ip";r=6;t=60, "key";r=4;t=60'],
      [405, '"ip";r=5;t=60, "key";r=3;t=60'],
      [422, '"ip";r=4;t=60, "key";r=2;t=60'],
      [200, '"ip";r=3;t=60, "key";r=1;t=60'],
    ]);
  });

  test('show 0, and never less, when a limit is used up', async () => {
    const byKey = await serveLimited({ requestsPerIp: 9, requestsPerKey: 1 });
    await byKey.askTimes(3);
    expect((await byKey.ask()).headers['ratelimit']).toBe('"ip";r=5;t=60, "key";r=0;t=60');
    const byIp = await serveLimited({ requestsPerIp: 1 });
    await byIp.askTimes(3);
    expect(left(await byIp.ask())).toEqual(['"ip";r=0;t=60', '"ip";q=1;w=60']);
  });
});
