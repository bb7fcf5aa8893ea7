import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { aCommand, aFolder, finish, printed } from './support/command.ts';

const FIXTURES = fileURLToPath(new URL('./fixtures', import.meta.url));
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const NO_SUCH = '00000000-0000-4000-8000-000000000000';

describe('plumbline account, domain, key', () => {
  test('an account is created, listed, and moved to another plan', async () => {
    const { json } = await aCommand();
    const account = await json('account', 'create', 'My company');
    expect(account).toEqual({ id: expect.stringMatching(UUID), name: 'My company', plan: 'pro' });
    expect(await json('account', 'plan', account.id, 'free')).toEqual({ ...account, plan: 'free' });
    expect(await json('account', 'list')).toEqual([{ ...account, plan: 'free' }]);
  });

  test('a domain is added, paused, resumed and listed', async () => {
    const { json } = await aCommand();
    const account = await json('account', 'create', 'A');
    const domain = await json('domain', 'add', account.id, 'Example.COM.');
    expect(domain).toEqual({
      id: expect.stringMatching(UUID),
      domain: 'example.com',
      status: 'active',
    });
    expect(await json('domain', 'pause', domain.id)).toEqual({ ...domain, status: 'paused' });
    expect(await json('domain', 'list', account.id)).toEqual([{ ...domain, status: 'paused' }]);
    expect(await json('domain', 'resume', domain.id)).toEqual(domain);
  });

  test('adding a parent or subdomain of another account’s domain prints a warning', async () => {
    const { json, run } = await aCommand();
    const [mine, other] = [
      await json('account', 'create', 'A'),
      await json('account', 'create', 'B'),
    ];
    for (const name of ['example.com', 'a.mail.example.com', 'xmail.example.com']) {
      await json('domain', 'add', other.id, name);
    }
    await json('domain', 'add', mine.id, 'other.mail.example.com');
    const { status, stdout, stderr } = await run([
      ...['domain', 'add', mine.id, 'mail.example.com', '--json'],
    ]);
    expect([status, JSON.parse(stdout).domain]).toEqual([0, 'mail.example.com']);
    expect(stderr.trim().split('\n')).toEqual([
      `Warning: the subdomain a.mail.example.com belongs to another account, ${other.id}.`,
      `Warning: the parent domain example.com belongs to another account, ${other.id}.`,
    ]);
  });

  test('a whole key is shown once; the key can then be disabled, enabled and deleted', async () => {
    const { json } = await aCommand();
    const account = await json('account', 'create', 'A');
    const { key, ...rest } = await json('key', 'create', account.id, ' Dashboard ');
    expect(key).toMatch(/^plb_live_[0-9A-Za-z]{36}$/);
    expect(rest).toEqual({
      id: expect.stringMatching(UUID),
      name: 'Dashboard',
      prefix: key.slice(0, 13),
      enabled: true,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      last_used_at: null,
    });
    expect(await json('key', 'disable', rest.id)).toEqual({ ...rest, enabled: false });
    expect(await json('key', 'enable', rest.id)).toEqual(rest);
    expect(await json('key', 'list', account.id)).toEqual([rest]);
    expect(await json('key', 'delete', rest.id)).toEqual(rest);
    expect(await json('key', 'list', account.id)).toEqual([]);
  });

  test('a new account is on Pro by default, and a free one gets no key', async () => {
    const { json, run } = await aCommand();
    const account = await json('account', 'create', 'A', '--plan', 'free');
    const { status, stdout, stderr } = await run(['key', 'create', account.id, 'x', '--json']);
    expect(status).toBe(1);
    expect(JSON.parse(stdout).error.code).toBe('plan_required');
    expect(stderr).toMatch(/Pro/);
  });

  test('without --json the output is tables and sentences', async () => {
    const { run, json } = await aCommand();
    expect((await run(['account', 'list'])).stdout).toMatch(/no account yet/);
    const account = await json('account', 'create', 'A');
    expect((await run(['account', 'list'])).stdout).toContain(account.id);
    const created = await run(['key', 'create', account.id, 'x']);
    expect(created.stdout).toMatch(/key +plb_live_/);
    expect(created.stderr).toMatch(/cannot show it again/);
  });
});

describe('exit status', () => {
  test.each([
    ['an unknown command', ['frobnicate'], 2],
    ['an unknown option', ['account', 'list', '--frobnicate'], 2],
    ['a missing argument', ['account', 'create'], 2],
    ['a plan that does not exist', ['account', 'create', 'A', '--plan', 'gold'], 2],
    ['an account that does not exist', ['key', 'list', NO_SUCH], 1],
    ['a domain that does not exist', ['domain', 'pause', NO_SUCH], 1],
    ['help', ['--help'], 0],
    ['an empty list', ['account', 'list'], 0],
  ] as const)('%s', async (_name, args, status) => {
    const { run } = await aCommand();
    expect((await run(args)).status).toBe(status);
  });

  test('an invalid configuration is reported with the name of each variable', async () => {
    const { run } = await aCommand({
      PLUMBLINE_PORT: 'eighty',
      PLUMBLINE_TRUSTED_PROXIES: '10.0.0.0/33',
    });
    const { status, stderr } = await run(['serve']);
    expect(status).toBe(2);
    expect(stderr).toMatch(/PLUMBLINE_PORT/);
    expect(stderr).toMatch(/PLUMBLINE_TRUSTED_PROXIES/);
  });
});

describe('plumbline ingest', () => {
  const lines = (stdout: string) =>
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));

  async function aCompany() {
    const command = await aCommand();
    const account = await command.json('account', 'create', 'A');
    await command.json('domain', 'add', account.id, 'example.com');
    await mkdir(join(command.folder, 'in/deep'), { recursive: true });
    await cp(join(FIXTURES, 'example-plain.xml'), join(command.folder, 'in/deep/a.xml'));
    return command;
  }

  test('prints a line for each document and a summary, and recognises a report that comes again', async () => {
    const { run } = await aCompany();
    const first = await run(['ingest', 'in', '--json']);
    expect(first.status).toBe(0);
    const [document, last] = lines(first.stdout);
    expect(document).toMatchObject({
      source: join('in', 'deep', 'a.xml'),
      outcome: 'stored',
      reason: null,
      domain: 'example.com',
    });
    expect(Object.keys(document)).toEqual(
      expect.arrayContaining([
        'report_id',
        'record_count',
        'total_messages',
        'aligned_messages',
        'warnings',
      ]),
    );
    expect(last.summary).toMatchObject({ documents: 1, stored: 1, rejected: 0 });
    const second = await run(['ingest', 'in', '--json']);
    expect(second.status).toBe(0);
    expect(lines(second.stdout)[0].outcome).toBe('duplicate');
  });

  test('one bad document ends the run with status 1 and does not stop it', async () => {
    const { run, folder } = await aCompany();
    await writeFile(join(folder, 'in/0-bad.xml'), '<feedback><report_metadata></feedback>');
    await writeFile(join(folder, 'in/1-empty.xml'), '');
    const { status, stdout } = await run(['ingest', 'in', 'nowhere', '--json']);
    expect(status).toBe(1);
    const outcomes = lines(stdout).slice(0, -1);
    expect(outcomes.map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ['rejected', 'bad_xml'],
      ['rejected', 'empty'],
      ['stored', null],
      ['rejected', 'unreadable'],
    ]);
    expect(outcomes[0].where).toMatch(/line \d+, column \d+/);
    expect(outcomes[3].source).toBe('nowhere');
  });

  test('reads standard input, and prints the outcomes in a table', async () => {
    const { run } = await aCommand();
    const { status, stdout } = await run(['ingest', '-'], 'unused');
    expect(status).toBe(1);
    expect(stdout).toMatch(/rejected/);
    expect(stdout).toMatch(/no_report/);
  });

  test('reports that came before their domain was added are claimed with it', async () => {
    const { run, json, folder } = await aCommand();
    await cp(join(FIXTURES, 'example-plain.xml'), join(folder, 'a.xml'));
    expect(lines((await run(['ingest', 'a.xml', '--json'])).stdout)[0].outcome).toBe('unclaimed');
    const account = await json('account', 'create', 'A');
    await json('domain', 'add', account.id, 'example.com');
    expect(lines((await run(['ingest', 'a.xml', '--json'])).stdout)[0].outcome).toBe('duplicate');
  });

  test('gzip on standard input is detected from its bytes', async () => {
    const { start } = await aCommand();
    const child = start('ingest', '-', '--json');
    child.stdin.end(gzipSync('<feedback/>'));
    const { stdout } = await finish(child);
    expect(lines(stdout)[0]).toMatchObject({ source: '-', outcome: 'rejected' });
  });
});

describe('plumbline serve', () => {
  test('prints its URL and how to get data, and stops on SIGTERM', async () => {
    const { start } = await aCommand();
    const child = start('serve');
    const ended = finish(child);
    const text = await printed(child, /npm run demo/);
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0];
    expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: 'ok' });
    expect(text).toMatch(/account create/);
    child.kill('SIGTERM');
    expect((await ended).status).toBe(0);
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });

  test('a change by a command shows in the next answer of a running server', async () => {
    const { start, json, folder } = await aCommand();
    const account = await json('account', 'create', 'A');
    const { key, id } = await json('key', 'create', account.id, 'k');
    const child = start('serve', '--json');
    const ended = finish(child);
    const { url } = JSON.parse(await printed(child, /\n/));
    const get = () =>
      fetch(`${url}/v1/external/domains`, { headers: { authorization: `Bearer ${key}` } });
    expect(await (await get()).json()).toEqual({ data: [], total: 0 });
    await json('domain', 'add', account.id, 'example.com');
    expect(await (await get()).json()).toMatchObject({ total: 1 });
    await json('key', 'disable', id);
    expect((await get()).status).toBe(401);
    child.kill('SIGTERM');
    const { status, stderr } = await ended;
    expect(status).toBe(0);
    expect(stderr).toContain('/v1/external/domains');
    expect(stderr + folder).not.toContain(key);
  });
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
    const { start, json, folder } = await aCommand({ PLUMBLINE_DATABASE: 'data/demo.db' });
    const account = await json('account', 'create', 'A real one');
    const before = await readFile(join(folder, 'data/demo.db'));
    const child = start('demo', '--json');
    const ended = finish(child);
    const { database } = JSON.parse(await printed(child, /\n/));
    expect((await stat(database)).isFile()).toBe(true);
    child.kill('SIGTERM');
    expect((await ended).status).toBe(0);
    await expect(stat(dirname(database))).rejects.toThrow(/ENOENT/);
    expect(await readFile(join(folder, 'data/demo.db'))).toEqual(before);
    expect(await json('account', 'list')).toEqual([account]);
  });

  test('removes its database when it cannot start', async () => {
    const busy = createServer().listen(0, '127.0.0.1');
    await once(busy, 'listening');
    const { port } = busy.address() as AddressInfo;
    const folder = await aFolder();
    const { run } = await aCommand({ PLUMBLINE_PORT: `${port}`, TMPDIR: folder });
    const { status, stderr } = await run(['demo']);
    busy.close();
    expect([status, stderr]).toEqual([1, expect.stringContaining('EADDRINUSE')]);
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('the configuration file', () => {
  test('an .env in the current folder, which may contain files of strangers, is not read', async () => {
    const { run, folder } = await aCommand();
    await writeFile(join(folder, '.env'), 'PLUMBLINE_LOG_LEVEL=nonsense\n');
    expect((await run(['account', 'list'])).status).toBe(0);
  });

  test('PLUMBLINE_CONFIG names another file; the environment has precedence', async () => {
    const folder = await aFolder();
    const file = join(folder, 'plumbline.env');
    await writeFile(file, 'PLUMBLINE_LOG_LEVEL=nonsense\n');
    const named = await aCommand({ PLUMBLINE_CONFIG: file });
    const { status, stderr } = await named.run(['account', 'list']);
    expect([status, stderr]).toEqual([2, expect.stringContaining('PLUMBLINE_LOG_LEVEL')]);
    const overruled = await aCommand({ PLUMBLINE_CONFIG: file, PLUMBLINE_LOG_LEVEL: 'warn' });
    expect((await overruled.run(['account', 'list'])).status).toBe(0);
  });

  test('a named file that does not exist is wrong usage', async () => {
    const { run } = await aCommand({ PLUMBLINE_CONFIG: '/nowhere/plumbline.env' });
    const { status, stderr } = await run(['account', 'list']);
    expect([status, stderr]).toEqual([2, expect.stringContaining('PLUMBLINE_CONFIG')]);
  });
});
