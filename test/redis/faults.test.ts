import { createServer, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '../../scripts/free-port.ts';
import type { Answer, Api } from '../support/api.ts';
import { aBareAccount, anAccount } from '../support/builders.ts';
import { aPerson, Browser } from '../support/visitor.ts';
import {
  BACK,
  instances,
  LOST,
  leftOf,
  limitsOf,
  linesOf,
  PATH,
  sharing,
  statusesOf,
  untilLimits,
  untilLost,
} from './instances.ts';
import { aRedis, type Redis, toConfig } from './redis-server.ts';

const LIMIT = 60;
const CLIENTS = 8;

/** Two instances that count in one Redis, and one key. */
async function aService(redis: Pick<Redis, 'config'>, start = sharing) {
  const apis = await start(2, redis.config, { requestsPerKey: LIMIT });
  const { key } = await anAccount(apis[0].db);
  return { apis, key };
}

/** Requests of several clients without a pause while `work` runs. Every answer is a true one. */
async function underLoad(apis: readonly Api[], work: () => Promise<void>): Promise<void> {
  const answers: Answer[] = [];
  let isOver = false;
  const clients = Array.from({ length: CLIENTS }, async (_, i) => {
    const api = apis[i % 2] as Api;
    const { key } = await anAccount(api.db);
    do answers.push(await api.get(PATH, { key }));
    while (!isOver);
  });
  try {
    await work();
  } finally {
    isOver = true;
    await Promise.all(clients);
  }
  expect(answers.length).toBeGreaterThanOrEqual(CLIENTS);
  for (const answer of answers) holdTrue(answer);
}

function holdTrue(answer: Answer): void {
  const { left, seconds } = leftOf(answer, 'key');
  expect(answer.status).toBe(left > 0 || answer.status === 200 ? 200 : 429);
  expect(left).toBeGreaterThanOrEqual(0);
  expect(left).toBeLessThan(LIMIT);
  expect(seconds).toBeGreaterThanOrEqual(0);
  expect(seconds).toBeLessThanOrEqual(60);
}

/** Each instance says a change once, whatever number of requests it had. */
function expectOnce(apis: readonly Api[]): void {
  for (const api of apis) expect(linesOf(api)).toEqual([LOST, BACK]);
}

describe('under load every request is answered, each change is said once, and limits are shared again, when Redis', () => {
  test('is killed and started again', async () => {
    const redis = await aRedis();
    const { apis } = await aService(redis);
    await underLoad(apis, async () => {
      await redis.kill();
      for (const api of apis) await untilLimits(api, 'own');
      await redis.start();
      for (const api of apis) await untilLimits(api, 'shared');
    });
    expectOnce(apis);
  });

  test('stalls and goes on', async () => {
    const redis = await aRedis();
    const { apis } = await aService(redis);
    await underLoad(apis, async () => {
      redis.stop();
      for (const api of apis) await untilLimits(api, 'own');
      redis.resume();
      for (const api of apis) await untilLimits(api, 'shared');
    });
    expectOnce(apis);
  });

  test('has no memory left', async () => {
    const redis = await aRedis();
    const { apis } = await aService(redis);
    await underLoad(apis, async () => {
      await redis.send('CONFIG', 'SET', 'maxmemory', '1');
      for (const api of apis) await untilLimits(api, 'own');
      await redis.send('CONFIG', 'SET', 'maxmemory', '0');
      for (const api of apis) await untilLimits(api, 'shared');
    });
    expectOnce(apis);
  });

  test('becomes a replica, which only reads', async () => {
    const redis = await aRedis();
    const { apis } = await aService(redis);
    await underLoad(apis, async () => {
      await redis.send('REPLICAOF', '127.0.0.1', `${await findFreePort()}`);
      for (const api of apis) await untilLimits(api, 'own');
      await redis.send('REPLICAOF', 'NO', 'ONE');
      for (const api of apis) await untilLimits(api, 'shared');
    });
    expectOnce(apis);
  });
});

test('limits stay exact, and nothing is said, when Redis forgets its scripts under load', async () => {
  const redis = await aRedis();
  const { apis, key } = await aService(redis);
  const asked = [];
  for (let i = 0; i < 10; i++) {
    await redis.send('SCRIPT', 'FLUSH');
    asked.push(...(await Promise.all(apis.flatMap((api) => tenTimes(api, key)))));
  }
  expect(statusesOf(asked)).toEqual({ 200: LIMIT, 429: 200 - LIMIT });
  expect(apis.flatMap(linesOf)).toEqual([]);
});

const tenTimes = (api: Api, key: string) =>
  Array.from({ length: 10 }, () => api.get(PATH, { key }));

describe('while Redis is stopped', () => {
  test('200 requests at the same time are answered by the instance’s own limits', async () => {
    const redis = await aRedis();
    const { apis, key } = await aService(redis);
    redis.stop();
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => apis[0].get(PATH, { key })),
    );
    expect(statusesOf(answers)).toEqual({ 200: LIMIT, 429: 140 });
    // All were answered before Redis goes on.
    redis.resume();
    await untilLimits(apis[0], 'shared');
    expect(linesOf(apis[0])).toEqual([LOST, BACK]);
  });

  test('a sign-in, which is counted four times, is answered', async () => {
    const redis = await aRedis();
    const [api] = await sharing(1, redis.config);
    const { email } = await aPerson(api, await aBareAccount(api.db));
    redis.stop();
    expect((await new Browser(api).signIn(email)).status).toBe(303);
    expect(await limitsOf(api)).toBe('own');
  });

  test('an instance starts', async () => {
    const redis = await aRedis();
    redis.stop();
    const { apis, key } = await aService(redis, instances);
    expect((await apis[0].get(PATH, { key })).status).toBe(200);
    expect(await limitsOf(apis[0])).toBe('own');
    redis.resume();
    await untilLimits(apis[0], 'shared');
  });
});

test('an instance starts while there is no Redis, and counts in it when there is', async () => {
  const redis = await aRedis();
  await redis.kill();
  const { apis, key } = await aService(redis, instances);
  expect((await apis[0].get(PATH, { key })).status).toBe(200);
  for (const api of apis) await untilLost(api);
  await redis.start();
  for (const api of apis) await untilLimits(api, 'shared');
  expectOnce(apis);
});

test('an instance that counts alone begins with what it counted itself, however often Redis goes', async () => {
  const redis = await aRedis();
  const { apis, key } = await aService(redis);
  const [api] = apis;
  const ask = (count: number) =>
    Promise.all(Array.from({ length: count }, () => api.get(PATH, { key })));
  expect(statusesOf(await ask(40))).toEqual({ 200: 40 });
  await redis.kill();
  expect(statusesOf(await ask(10))).toEqual({ 200: 10 });
  const [answer] = await ask(1);
  expect(leftOf(answer as Answer, 'key').left).toBe(9);
  await redis.start();
  await untilLimits(api, 'shared');
  // Redis has forgotten all of them, and the instance has not.
  expect(statusesOf(await ask(1))).toEqual({ 200: 1 });
  await redis.kill();
  await untilLimits(api, 'own');
  expect(statusesOf(await ask(20))).toEqual({ 200: 8, 429: 12 });
});

/** Something that listens where Redis should be. */
async function aFalseRedis(onConnection: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket.on('error', () => {}));
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return { config: toConfig(port), connections: () => connections };
}

/** One reply for each command, which begins with the number of its parts and its name. */
const reply = (text: string) => (socket: Socket) =>
  void socket.on('data', (data) => {
    for (const _command of data.toString('latin1').match(/\*\d+\r\n\$\d+\r\n[A-Z]+\r\n/g) ?? [])
      socket.write(text);
  });

describe('every request is answered by the instance’s own limits when what is there', () => {
  test.each<[string, (socket: Socket) => void]>([
    ['is loading its data', reply('-LOADING Redis is loading the dataset in memory\r\n')],
    ['demands a password', reply('-NOAUTH Authentication required.\r\n')],
    ['knows no such commands', reply("-ERR unknown command 'EVAL'\r\n")],
    ['answers with something else', reply('+OK\r\n')],
    ['counts in something else than numbers', reply('*2\r\n$1\r\nx\r\n$1\r\ny\r\n')],
    ['counts below one', reply('*2\r\n:-1\r\n:60000\r\n')],
    ['is no Redis', reply('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['closes each connection', (socket) => void socket.destroy()],
    ['never answers', () => {}],
    ['sends what nobody asked for', (socket) => void socket.write(':1\r\n'.repeat(1_000))],
    ['begins a reply of 500 MB', reply('$500000000\r\nx')],
  ])('%s', async (_what, onConnection) => {
    const { config, connections } = await aFalseRedis(onConnection);
    const [api] = await instances(1, config, { requestsPerKey: LIMIT });
    const { key } = await anAccount(api.db);
    const ask = () => api.get(PATH, { key });
    const answers = await Promise.all(Array.from({ length: 200 }, ask));
    expect(statusesOf(answers)).toEqual({ 200: LIMIT, 429: 140 });
    expect(await limitsOf(api)).toBe('own');
    expect(connections()).toBeLessThanOrEqual(10);
    expect(linesOf(api).length).toBeLessThanOrEqual(1);
  });
});
