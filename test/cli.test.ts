import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listAccounts } from '../src/store/accounts/accounts.ts';
import { listPeople } from '../src/store/people/people.ts';
import { aBareAccount, anAccount } from './support/builders.ts';
import { aCommand, aFolder, finish, printed } from './support/command.ts';
import { runServer } from './support/running-server.ts';

/*
 * What only a process has: signals, pipes, a terminal, an exit status. All else of the command is tested in
 * test/commands/, without a process.
 */

const CLI = fileURLToPath(new URL('../src/cli.ts', import.meta.url));
const PASSWORD = 'plumb lines are straight';

describe('plumbline serve', () => {
  test('prints its URL and how to get data, and stops on SIGTERM', async () => {
    const { start, env } = await aCommand();
    const child = start('serve');
    const ended = finish(child);
    const text = await printed(child, /npm run demo/);
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0];
    expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: 'ok' });
    const prefix = `PLUMBLINE_DATABASE=${env.PLUMBLINE_DATABASE} `;
    expect(text).toContain(`  ${prefix}npm run plumbline -- account create "My company"\n`);
    child.kill('SIGTERM');
    expect((await ended).status).toBe(0);
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });

  test('a change by a command shows in the next answer of a running server', async () => {
    const { start, json, withDb, folder } = await aCommand();
    const { id: accountId, key, keyId } = await withDb((db) => anAccount(db));
    const child = start('serve', '--json');
    const ended = finish(child);
    const { url } = JSON.parse(await printed(child, /\n/));
    const get = () =>
      fetch(`${url}/v1/external/domains`, { headers: { authorization: `Bearer ${key}` } });
    expect(await (await get()).json()).toEqual({ data: [], total: 0 });
    await json('domain', 'add', accountId, 'example.com');
    expect(await (await get()).json()).toMatchObject({ total: 1 });
    await json('key', 'disable', keyId);
    expect((await get()).status).toBe(401);
    child.kill('SIGTERM');
    const { status, stderr } = await ended;
    expect(status).toBe(0);
    expect(stderr).toContain('/v1/external/domains');
    expect(stderr + folder).not.toContain(key);
  });
});

test.skipIf(!existsSync('/dev/full'))(
  'plumbline serve goes on while the disk of its log is full, and ends when it is told to',
  async () => {
    const { env, folder } = await aCommand();
    const full = openSync('/dev/full', 'w');
    const stdio = ['ignore', 'pipe', full] as const;
    const child = spawn(process.execPath, [CLI, 'serve'], { cwd: folder, env, stdio: [...stdio] });
    closeSync(full);
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = finish(child);
    const [url] = /http:\/\/[\d.:]+/.exec(await printed(child, /npm run demo/)) as unknown as [
      string,
    ];
    const ask = () => fetch(`${url}/healthz`, { signal: AbortSignal.timeout(60_000) });
    await ask();
    // A line waits half a second before it is written.
    await setTimeout(1_000);
    expect((await ask()).status).toBe(200);
    child.kill('SIGTERM');
    expect((await ended).status).toBe(0);
  },
);

test.each([
  ['serve', 'off'],
  ['serve --sandbox', 'on'],
  ['demo', 'on'],
])(
  'plumbline %s takes no requests from servers that share their port',
  async (command, sharing) => {
    const { server } = await runServer({ PLUMBLINE_SHARE_PORT: 'on' });
    const { run } = await aCommand({
      PLUMBLINE_PORT: new URL(server.url).port,
      PLUMBLINE_SHARE_PORT: sharing,
    });
    const { status, stdout, stderr } = await run(command.split(' '));
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    // The log of a service has nothing but lines of JSON.
    expect(command === 'serve' ? `${JSON.parse(stderr).msg}\n` : stderr).toMatch(
      /^The server cannot listen on 127\.0\.0\.1 port \d+: the address is in use\. .*\n$/,
    );
  },
);

test('plumbline serve logs a warning about a database that other users can read', async () => {
  const { start, withDb, env, folder } = await aCommand();
  await withDb((db) => anAccount(db));
  await chmod(env.PLUMBLINE_DATABASE, 0o644);
  await chmod(dirname(env.PLUMBLINE_DATABASE), 0o755);
  await chmod(folder, 0o755);
  const child = start('serve');
  const ended = finish(child);
  await printed(child, /listens on/);
  child.kill('SIGTERM');
  const [first = ''] = (await ended).stderr.split('\n');
  expect(JSON.parse(first).msg).toContain(`Other users can access ${env.PLUMBLINE_DATABASE}`);
});

describe('plumbline demo', () => {
  test('prints a key and three curl commands that return data', async () => {
    const { start } = await aCommand();
    const child = start('demo');
    const ended = finish(child);
    const text = await printed(child, /Ctrl\+C/);
    const curls = [...text.matchAll(/curl -H "Authorization: (.+?)" "(.+?)"/g)];
    expect(curls).toHaveLength(3);
    for (const [, authorization = '', url = ''] of curls) {
      const response = await fetch(url, { headers: { authorization } });
      expect(response.status).toBe(200);
      const { data } = (await response.json()) as { data: unknown[] };
      expect(data).not.toEqual([]);
    }
    child.kill('SIGTERM');
    expect((await ended).status).toBe(0);
  });

  test('does not touch a real database that is called demo.db, and removes its own', async () => {
    const { start, withDb, folder } = await aCommand({ PLUMBLINE_DATABASE: 'data/demo.db' });
    const id = await withDb((db) => aBareAccount(db));
    const before = await readFile(join(folder, 'data/demo.db'));
    const child = start('demo', '--json');
    const ended = finish(child);
    const { database } = JSON.parse(await printed(child, /\n/));
    expect((await stat(database)).isFile()).toBe(true);
    child.kill('SIGTERM');
    expect((await ended).status).toBe(0);
    await expect(stat(dirname(database))).rejects.toThrow(/ENOENT/);
    expect(await readFile(join(folder, 'data/demo.db'))).toEqual(before);
    expect(await withDb(listAccounts)).toMatchObject([{ id }]);
  });

  test('removes its database when it cannot start', async () => {
    const busy = createServer().listen(0, '127.0.0.1');
    await once(busy, 'listening');
    const { port } = busy.address() as AddressInfo;
    const folder = await aFolder();
    const { run } = await aCommand({ PLUMBLINE_PORT: `${port}`, TMPDIR: folder });
    const { status, stderr } = await run(['demo']);
    busy.close();
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining('the address is in use. Set PLUMBLINE_PORT'),
    ]);
    expect(await readdir(folder)).toEqual([]);
  });
});

test('an .env in the current folder, which may contain files of strangers, is not read', async () => {
  const { run, folder, withDb } = await aCommand();
  await withDb((db) => anAccount(db));
  await writeFile(join(folder, '.env'), 'PLUMBLINE_LOG_LEVEL=nonsense\n');
  expect((await run(['account', 'list'])).status).toBe(0);
});

test('the exit status of the process is that of the command', async () => {
  const { run } = await aCommand({ PLUMBLINE_CONFIG: '/nowhere/plumbline.env' });
  const { status, stderr } = await run(['account', 'list']);
  expect([status, stderr]).toEqual([2, expect.stringContaining('PLUMBLINE_CONFIG')]);
});

test.each([
  ['account list', ['account', 'list', '--json']],
  ['ingest', ['ingest', '.', '--json']],
] as const)('%s ends quietly when the reader of its output has gone', async (_name, args) => {
  const { start, withDb } = await aCommand();
  await withDb((db) => anAccount(db));
  const child = start(...args);
  child.stdout.destroy();
  const { status, stderr } = await finish(child);
  expect([status, stderr]).toEqual([0, '']);
});

test.skipIf(!existsSync('/dev/full'))('says that the disk is full to which it writes', async () => {
  const { env, folder, withDb } = await aCommand();
  await withDb((db) => anAccount(db));
  const full = openSync('/dev/full', 'w');
  const args = [CLI, 'account', 'list', '--json'];
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env,
    stdio: ['ignore', full, 'pipe'],
  });
  closeSync(full);
  const { status, stderr } = await finish(child);
  expect([status, stderr]).toEqual([1, 'write: the disk is full.\n']);
});

test('on a terminal the password is asked for twice, and not shown', async () => {
  const { env, folder, withDb } = await aCommand();
  const accountId = await withDb((db) => aBareAccount(db));
  const command = `'${process.execPath}' '${CLI}' user add ${accountId} ada@example.com`;
  // `script` gives the command a terminal of its own.
  const child = spawn('script', ['-qec', command, '/dev/null'], { cwd: folder, env });
  const ended = finish(child);
  let asked = '';
  let answers = 0;
  child.stdout.on('data', (text: string) => {
    asked += text;
    const questions = asked.match(/Password: |The same again: /g)?.length ?? 0;
    for (; answers < questions; answers++) child.stdin.write(`${PASSWORD}\r`);
  });
  const { status, stdout } = await ended;
  expect([status, answers]).toEqual([0, 2]);
  expect(stdout).toContain('ada@example.com');
  expect(stdout).not.toContain(PASSWORD.slice(0, 5));
  expect(await withDb((db) => listPeople(db, accountId))).toMatchObject([{ hasPassword: true }]);
});
