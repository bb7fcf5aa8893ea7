import { describe, expect, test } from 'vitest';
import { countInRedis } from '../../src/http/counters/redis.ts';
import type { Api } from '../support/api.ts';
import { aBareAccount, anAccount } from '../support/builders.ts';
import { aPerson, aVisitor, Browser, PASSWORD } from '../support/visitor.ts';
import { leftOf, linesOf, PATH, sharing, statusesOf } from './instances.ts';
import { aRedis } from './redis-server.ts';

const ROUNDS = [1, 2, 3, 4, 5];
const WRONG = 'not the right one';

/** This many requests at the same time, to two instances in turns. */
const together = <T>(apis: readonly Api[], count: number, work: (api: Api) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => work(apis[i % apis.length] as Api)));

const countDown = (from: number) => Array.from({ length: from }, (_, i) => from - 1 - i);

test('of 200 parallel requests with one key to two instances exactly 60 pass, in each of five rounds', async () => {
  const redis = await aRedis();
  const apis = await sharing(2, redis.config, { requestsPerKey: 60 });
  for (const _round of ROUNDS) {
    const { key } = await anAccount(apis[0].db);
    const answers = await together(apis, 200, (api) => api.get(PATH, { key }));
    expect(statusesOf(answers)).toEqual({ 200: 60, 429: 140 });
    const passed = answers.filter(({ status }) => status === 200);
    const left = passed.map((answer) => leftOf(answer, 'key').left).sort((a, b) => b - a);
    expect(left).toEqual(countDown(60));
  }
  expect(apis.flatMap(linesOf)).toEqual([]);
});

test('of 200 parallel requests from one address to two instances exactly 60 pass, in each of five rounds', async () => {
  const redis = await aRedis();
  const options = { requestsPerIp: 60, trustedProxies: ['127.0.0.1'] };
  const apis = await sharing(2, redis.config, options);
  const { key } = await anAccount(apis[0].db);
  for (const round of ROUNDS) {
    const headers = { 'X-Forwarded-For': `192.0.2.${round}` };
    const answers = await together(apis, 200, (api) => api.get(PATH, { key, headers }));
    expect(statusesOf(answers)).toEqual({ 200: 60, 429: 140 });
  }
});

test('RateLimit counts what other instances have answered, and a window begins with the first request to any', async () => {
  const redis = await aRedis();
  const [a, b] = await sharing(2, redis.config, { requestsPerKey: 3 });
  const { key } = await anAccount(a.db);
  expect(leftOf(await a.get(PATH, { key }), 'key').left).toBe(2);
  // As if 40 seconds had passed.
  const counters = (await redis.send('KEYS', 'plumbline:key:*')) as string[];
  expect(counters).toHaveLength(1);
  await redis.send('PEXPIRE', counters[0] as string, '20000');
  const answers = [];
  for (const api of [b, a, b, a]) answers.push(await api.get(PATH, { key }));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429, 429]);
  expect(answers.map((answer) => leftOf(answer, 'key').left)).toEqual([1, 0, 0, 0]);
  // A rejected request does not extend the window.
  for (const answer of answers) expect(leftOf(answer, 'key').seconds).toBeLessThanOrEqual(20);
});

describe('sign-ins are counted by all instances together', () => {
  const guess = async (api: Api, email: string, password = WRONG) =>
    (await new Browser(api).signIn(email, password)).status;

  test('of 24 wrong passwords at the same time for one person ten are looked at', async () => {
    const redis = await aRedis();
    const apis = await sharing(2, redis.config);
    const { email } = await aPerson(apis[0], await aBareAccount(apis[0].db));
    const statuses = await together(apis, 24, (api) => guess(api, email));
    expect(statuses.filter((status) => status === 429)).toHaveLength(14);
    expect(await guess(apis[1], email, PASSWORD)).toBe(429);
  });

  test('thirty failures from one address stop it everywhere', async () => {
    const redis = await aRedis();
    const apis = await sharing(2, redis.config);
    for (let i = 0; i < 30; i++)
      expect(await guess(apis[i % 2] as Api, `nobody-${i}@example.com`)).not.toBe(429);
    for (const api of apis) expect(await guess(api, 'someone@example.com')).toBe(429);
  });

  test('a success is not counted as a failure, wherever it was, and is counted as a success', async () => {
    const redis = await aRedis();
    const apis = await sharing(2, redis.config);
    const { email } = await aPerson(apis[0], await aBareAccount(apis[0].db));
    for (let i = 0; i < 12; i++) expect(await guess(apis[i % 2] as Api, email, PASSWORD)).toBe(303);
    const count = async (limit: string) => {
      const [counter = ''] = (await redis.send('KEYS', `plumbline:${limit}:*`)) as string[];
      return await redis.send('GET', counter);
    };
    expect(await count('failed-by-email')).toBe('0');
    expect(await count('failed-by-address-password')).toBe('0');
    expect(await count('signed-in-by-email')).toBe('12');
    expect(await count('signed-in-by-address')).toBe('12');
  });

  test('ten wrong passwords of a person who is signed in', async () => {
    const redis = await aRedis();
    const apis = await sharing(2, redis.config);
    const { browser } = await aVisitor(apis[0], await aBareAccount(apis[0].db));
    const elsewhere = new Browser(apis[1]);
    Object.assign(elsewhere, { cookie: browser.cookie, formToken: browser.formToken });
    const change = async (from: Browser) => {
      const fields = { current: WRONG, password: PASSWORD, repeated: PASSWORD };
      return (await from.post('/settings/security/password', fields)).status;
    };
    for (let i = 0; i < 10; i++)
      expect(await change([browser, elsewhere][i % 2] as Browser)).toBe(422);
    expect([await change(browser), await change(elsewhere)]).toEqual([429, 429]);
  });

  test('failures at the provider of single sign-on', async () => {
    const redis = await aRedis();
    const issuer = 'http://127.0.0.1:9';
    const apis = await sharing(2, redis.config, {
      baseUrl: 'https://dmarc.example.com',
      singleSignOn: { issuer, clientId: 'plumbline', clientSecret: 's3cret' },
    });
    const back = async (api: Api) =>
      (await new Browser(api).get('/settings/single-sign-on/callback')).status;
    for (let i = 0; i < 30; i++) expect(await back(apis[i % 2] as Api)).not.toBe(429);
    for (const api of apis) expect(await back(api)).toBe(429);
    expect(await redis.send('KEYS', 'plumbline:single-sign-on:*')).toHaveLength(1);
  });
});

test('what is in Redis names no address and no person, and everything ends', async () => {
  const redis = await aRedis();
  const [api] = await sharing(1, redis.config);
  const { key } = await anAccount(api.db);
  await api.get(PATH, { key });
  await new Browser(api).signIn('ada@example.com', WRONG);
  const keys = (await redis.send('KEYS', '*')) as string[];
  expect(keys.map((name) => name.split(':')[1]).sort()).toEqual([
    'address',
    'failed-by-address-password',
    'failed-by-email',
    'key',
    'probe',
    'signed-in-by-address',
    'signed-in-by-email',
  ]);
  for (const name of keys) {
    expect(name).toMatch(/^plumbline:[a-z-]+:[\w-]{22}$/);
    expect(await redis.send('PTTL', name)).toBeGreaterThan(0);
  }
});

test('a hit that is subtracted after its window has ended leaves no counter without an end', async () => {
  const redis = await aRedis();
  const counters = await countInRedis(redis.config, { info() {}, warn() {} } as never);
  expect(counters.isShared()).toBe(true);
  const store = counters.createStore('any');
  await store.init?.({ windowMs: 60_000 } as never);
  await store.increment('a');
  await redis.send('FLUSHDB');
  await store.decrement('a');
  expect(counters.isShared()).toBe(true);
  expect(await redis.send('KEYS', '*')).toEqual([]);
  counters.close();
});
