import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pino from 'pino';
import { describe, expect, test } from 'vitest';
import { ERROR_SERIALIZERS, withoutKeys } from '../../src/http/log.ts';
import { serveApi } from '../support/api.ts';
import { anAccount } from '../support/builders.ts';
import { aFolder } from '../support/command.ts';
import { aSignedIn, Browser } from '../support/visitor.ts';

const run = promisify(execFile);

const SECRET = 'Zx9'.repeat(12);
const KEY = `plb_live_${SECRET}`;
const encode = (text: string) => [...text].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('');

test.each(['process.exit(3)', 'throw new Error("fault")'])(
  'lines that wait to be written together are written before the process ends, with %s',
  async (end) => {
    const log = fileURLToPath(new URL('../../src/http/log.ts', import.meta.url));
    const program = `import { createLog } from ${JSON.stringify(log)};
      createLog('info').info({ number: 1 }, 'waiting'); createLog('info').info('too'); ${end}`;
    const options = ['--input-type=module', '--eval', program];
    const failed = await run(process.execPath, options).catch((error) => error);
    expect(failed.stderr).toMatch(/^\{"level":"info",.*"number":1,"msg":"waiting"\}$/m);
    expect(failed.stderr).toMatch(/"msg":"too"\}$/m);
  },
);

test('a line said neither who asked nor for which account', async () => {
  const { send, logged, db } = await serveApi();
  const { id, key } = await anAccount(db);
  await send('/v1/external/domains', { headers: { Authorization: `Bearer ${key}` } });
  await send('/v1/external/domains', { headers: { Authorization: `Bearer ${KEY}` } });
  const common = { client: '127.0.0', path: '/v1/external/domains' };
  expect(logged).toMatchObject([
    { ...common, key: key.slice(0, 13), account_id: id, status: 200 },
    { ...common, key: KEY.slice(0, 13), status: 401 },
  ]);
  expect(logged[1]).not.toHaveProperty('account_id');
});

test('a line of a page said neither who asked, nor why not, nor which limit', async () => {
  const api = await serveApi();
  const account = await anAccount(api.db);
  const owner = await aSignedIn(api, account.id);
  const member = await aSignedIn(api, account.id);
  const by = { account_id: account.id, person_id: member.id };
  await member.browser.get('/settings/people');
  await member.browser.post('/settings/account', { form_token: 'forged' });
  await owner.browser.get('/settings/people');
  await new Browser(api).get('/settings/people');
  const lines = api.logged.filter(
    ({ method, path }) => method === 'POST' || `${path}`.endsWith('people'),
  );
  expect(lines).toMatchObject([
    { ...by, status: 403, reason: 'Only an owner of the account can do this.' },
    { ...by, status: 403, reason: expect.stringContaining('did not come from a page') },
    { account_id: account.id, person_id: owner.id, status: 200 },
    { status: 303 },
  ]);
  expect(lines[2]).not.toHaveProperty('reason');
  expect(lines[3]).not.toHaveProperty('account_id');
});

test('a line of a 429 did not say which limit it met', async () => {
  const api = await serveApi({ requestsPerKey: 1, requestsPerIp: 2 });
  const { id, key } = await anAccount(api.db);
  for (let i = 0; i < 3; i++) await api.get('/v1/external/domains', { key });
  const { browser } = await aSignedIn(api, id);
  for (let i = 0; i < 61; i++) await browser.get('/settings/audit/csv');
  const refused = api.logged.filter(({ status }) => status === 429);
  expect(refused.map(({ limit }) => limit)).toEqual(['key', 'ip', 'exports']);
  expect(api.logged.filter(({ status }) => status !== 429).some((line) => 'limit' in line)).toBe(
    false,
  );
});

test('a request that ended before its body wrote a stack, and counted as a fault of the server', async () => {
  const { port, logged } = await serveApi();
  const paths = ['/mcp', '/settings/sign-in'];
  for (const path of paths) {
    const socket = connect(port, '127.0.0.1');
    const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 99\r\n`;
    const type = 'Content-Type: application/x-www-form-urlencoded\r\n\r\n';
    await new Promise<void>((resolve) => socket.write(`${head}${type}a=1`, () => resolve()));
    await sleep(100);
    socket.destroy();
  }
  await expect.poll(() => logged.length).toBeGreaterThanOrEqual(2);
  expect(logged.filter((line) => line['err'] !== undefined || line['level'] === 50)).toEqual([]);
});

test('the journal took every line for informational', async () => {
  const file = join(await aFolder(), 'journal');
  const journal = openSync(file, 'w');
  const { dev, ino } = fstatSync(journal);
  const module = fileURLToPath(new URL('../../src/http/log.ts', import.meta.url));
  const program = `import { createLog } from ${JSON.stringify(module)};
    const log = createLog('debug');
    for (const level of ['debug', 'info', 'warn', 'error', 'fatal']) log[level](level);`;
  const write = async (stream: string) => {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      env: { ...process.env, JOURNAL_STREAM: stream },
      stdio: ['ignore', 'ignore', journal],
    });
    await once(child, 'close');
  };
  await write(`${dev}:${ino}`);
  await write(`${dev}:1`);
  closeSync(journal);
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  expect(lines.map((line) => line.split('"', 4).join(''))).toEqual([
    ...[
      '<7>{level:debug',
      '<6>{level:info',
      '<4>{level:warn',
      '<3>{level:error',
      '<2>{level:fatal',
    ],
    ...['{level:debug', '{level:info', '{level:warn', '{level:error', '{level:fatal'],
  ]);
});

describe('a key is not logged', () => {
  test.each([
    ['as it is', `/${KEY}`],
    ['with an encoded underscore', `/plb%5Flive_${SECRET}`],
    ['with both underscores encoded, in lower case', `/plb%5flive%5f${SECRET}`],
    ['encoded as a whole', `/${encode(KEY)}`],
    ['encoded twice', `/plb%255Flive_${SECRET}`],
    ['encoded in parts that make an encoding together', `/plb%2%355Flive_${SECRET}`],
    ['encoded twenty times', `/plb%${'25'.repeat(20)}5Flive_${SECRET}`],
    ['beside invalid percent-encoding', `/%/%zz/plb%5Flive_${SECRET}`],
  ])('in a path, %s', async (_how, path) => {
    const { send, logged } = await serveApi();
    await send(path);
    const lines = JSON.stringify(logged);
    expect(lines).toContain('"path"');
    expect(lines).not.toContain(SECRET.slice(0, 8));
    expect(lines).not.toContain(encode(SECRET).slice(0, 20));
  });

  test('in an error, its stack, its cause or its other properties', () => {
    const lines: string[] = [];
    const log = pino(
      { serializers: ERROR_SERIALIZERS },
      { write: (line) => void lines.push(line) },
    );
    const cause = new Error(`no such path: /plb%5Flive_${SECRET}`);
    const error = Object.assign(new Error(`bad: ${KEY}`, { cause }), { sql: [`… = ${KEY}`] });
    log.error({ err: error }, 'unexpected error');
    expect(lines.join()).not.toContain(SECRET.slice(0, 8));
    expect(JSON.parse(lines[0] ?? '').err).toMatchObject({
      type: 'Error',
      message: expect.stringContaining('bad: plb_live_…'),
      stack: expect.stringContaining('log.test.ts'),
    });
  });

  test('paths without a key are logged unchanged', () => {
    expect(withoutKeys('/v1/a%20b/%C3%A9')).toBe('/v1/a%20b/%C3%A9');
  });
});
