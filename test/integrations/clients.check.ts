import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { runPlumbline, servePlumbline, serveSandbox } from '../../scripts/served-plumbline.ts';
import { SANDBOX_ACCOUNT_ID } from '../../src/domain/sandbox.ts';
import { feedList } from '../../src/store/lists/changes.ts';
import { toExpired } from '../support/expired-cursor.ts';
import { type Row, readAll } from './sandbox.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const NO_LIMITS = { PLUMBLINE_REQUESTS_PER_KEY: '100000', PLUMBLINE_REQUESTS_PER_IP: '100000' };

/** The copy of a follower, after a page. */
interface Copied {
  readonly cleared: number;
  readonly domain: readonly string[];
  readonly report: readonly string[];
  readonly alert: readonly string[];
}

type Program = readonly [string, ...string[]];

/** Each packs a client, installs the package into an empty folder, and returns the command of a program that uses it. */
const CLIENTS: Readonly<Record<string, (folder: string) => Program>> = {
  TypeScript: (folder) => {
    const tarball = pack('typescript');
    writeFileSync(join(folder, 'package.json'), '{}');
    execFileSync('npm', ['install', '--silent', tarball], { cwd: folder });
    return [process.execPath, copied('follower.mjs', folder)];
  },
  Python: (folder) => {
    const wheel = pack('python');
    execFileSync('python3', ['-m', 'venv', folder]);
    execFileSync(join(folder, 'bin/pip'), ['install', '--quiet', wheel]);
    return [join(folder, 'bin/python'), copied('follower.py', folder)];
  },
};

const pack = (name: string): string =>
  String(execFileSync('npm', ['run', '--silent', 'pack:client', '--', name], { cwd: ROOT })).trim();

function copied(name: string, folder: string): string {
  const path = join(folder, name);
  cpSync(fileURLToPath(new URL(name, import.meta.url)), path);
  return path;
}

const NAMES = Object.keys(CLIENTS);
const folders = Object.fromEntries(
  NAMES.map((name) => [name, mkdtempSync(join(tmpdir(), 'plumbline-client-'))]),
);
const programs: Record<string, Program> = {};

beforeAll(() => {
  for (const [name, install] of Object.entries(CLIENTS))
    programs[name] = install(folders[name] as string);
});
afterAll(() => {
  for (const folder of Object.values(folders)) rmSync(folder, { recursive: true, force: true });
});

test.each(NAMES)(
  'in %s puts what is listed, and deletes what a pause and a removal take',
  async (name) => {
    const demo = await servePlumbline(['demo'], NO_LIMITS);
    onTestFinished(demo.stop);
    const environment = { PLUMBLINE_DATABASE: demo.database ?? '' };
    const reaches = follow(name, demo);
    const whole = await readLists(demo);
    await reaches({ cleared: 0, ...whole });

    const { data } = (await (await get(demo, 'domains?limit=1')).json()) as { data: Row[] };
    const [paused] = data.map(({ domain }) => String(domain));
    await runPlumbline(['domain', 'pause', String(paused)], environment);
    const without = await readLists(demo);
    expect(without.report.length).toBeLessThan(whole.report.length);
    await reaches({ cleared: 0, ...without });

    await runPlumbline(['domain', 'remove', String(paused), '--yes'], environment);
    const left = await readLists(demo);
    expect(left.alert.length).toBeLessThan(without.alert.length);
    await reaches({ cleared: 0, ...left });
  },
);

/** Both check the installed package: one without types would be taken for anything. */
test('mypy and pyright know the types of the package for Python', () => {
  const folder = folders['Python'] as string;
  const bin = (name: string) => join(folder, 'bin', name);
  execFileSync(bin('pip'), ['install', '--quiet', 'mypy==2.4.1', 'pyright==1.1.414']);
  const checks: [string, string[]][] = [
    [bin('mypy'), ['--strict']],
    [bin('pyright'), ['--pythonpath', bin('python')]],
  ];
  const right = copied('typed.py', folder);
  const wrong = join(folder, 'wrong.py');
  const text = readFileSync(right, 'utf8');
  writeFileSync(wrong, text.replace('name: str =', 'name: int ='));
  for (const [command, args] of checks) {
    const check = (path: string) =>
      spawnSync(command, [...args, path], { cwd: folder, encoding: 'utf8' });
    expect(check(right)).toMatchObject({ status: 0 });
    expect(check(wrong)).toMatchObject({ status: 1 });
  }
});

test('the package for TypeScript knows each type of webhook of the contract, and records', () => {
  const folder = folders['TypeScript'] as string;
  const contract = parse(readFileSync(join(ROOT, 'openapi/v1.yaml'), 'utf8'));
  const types = Object.keys(contract['x-webhooks']);
  const text = readFileSync(
    fileURLToPath(new URL('typed-client.template', import.meta.url)),
    'utf8',
  );
  const compile = (known: readonly string[]) => {
    const cases = known.map((type) => `case '${type}': return event.timestamp;`).join('\n');
    writeFileSync(join(folder, 'typed.mts'), text.replace('//CASES', cases));
    const tsc = join(ROOT, 'node_modules/typescript-native/bin/tsc');
    const roots = ['--typeRoots', join(ROOT, 'node_modules/@types'), '--types', 'node'];
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024'];
    const args = [tsc, ...roots, ...options, 'typed.mts'];
    return spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' }).stdout;
  };
  // Without a type, the function returns nothing for it, and with another one, the case is none of the union.
  expect(compile(types)).toBe('');
  expect(compile(types.slice(1))).toContain('TS2366');
  expect(compile([...types, 'x.unknown'])).toContain('TS2678');
});

// At the same time, because each waits for a minute.
test('in each language waits and asks again after 408, 429, 503 and a lost connection, and begins again after 410', async () => {
  await Promise.all(NAMES.map(expectPatience));
});

test.each(NAMES)(
  'in %s accepts a delivery as it was signed, and refuses another body, secret or time',
  (name) => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const body = '{"type":"webhook.test","timestamp":"2026-03-15T04:12:09Z","data":{"text":"“é”"}}';
    const sign = (at: Date) => ({
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': `v1,AAAA ${new Webhook(secret).sign('msg_1', at, body)}`,
    });
    const now = new Date();
    const verify = (delivery: object) => {
      const env = { ...process.env, DELIVERY: JSON.stringify(delivery) };
      const [command, ...args] = programs[name] as Program;
      return spawnSync(command, args, { env, encoding: 'utf8' }).stdout.trim();
    };
    const headers = sign(now);
    expect(JSON.parse(verify({ secret, headers, body }))).toEqual({ type: 'webhook.test' });
    expect(verify({ secret, headers, body: body.replace('é', 'e') })).toBe('');
    expect(verify({ secret: `${secret.slice(0, -8)}AAAAAAA=`, headers, body })).toBe('');
    expect(verify({ secret, headers: sign(new Date(now.getTime() - 301_000)), body })).toBe('');
    expect(verify({ secret, headers: {}, body })).toBe('');
  },
);

async function expectPatience(name: string): Promise<void> {
  const sandbox = await serveSandbox({ PLUMBLINE_REQUESTS_PER_KEY: '11' });
  onTestFinished(sandbox.stop);
  const lists = await readLists(sandbox);
  const answer = await get(sandbox, 'changes');
  const newest = answer.headers.get('Plumbline-Cursor') ?? '';
  const cursor = toExpired(feedList(SANDBOX_ACCOUNT_ID), newest);
  const front = await aFront(sandbox.url, [503, 408, 0]);
  const reaches = follow(name, { url: front.url, key: sandbox.key }, { CURSOR: cursor });
  await reaches({ cleared: 1, ...lists });
  const wanted = [503, 408, 0, 410, 200, 200, 200, 429, 200];
  const met = () => front.statuses.slice(0, wanted.length);
  await expect.poll(met, { message: name, timeout: 150_000 }).toEqual(wanted);
}

type Server = { readonly url: string; readonly key: string };

const get = ({ url, key }: Server, path: string) =>
  fetch(`${url}/v1/external/${path}`, { headers: { authorization: `Bearer ${key}` } });

/** The ids of all lists, sorted. */
async function readLists(server: Server) {
  const lists = { domain: 'domains', report: 'reports', alert: 'alerts' };
  const ids: Record<string, string[]> = {};
  for (const [kind, list] of Object.entries(lists))
    ids[kind] = (await readAll(list, server)).map(({ id }) => String(id)).sort();
  return ids as unknown as Omit<Copied, 'cleared'>;
}

/** A program that follows the feed, until the test ends. */
function follow(name: string, { url, key }: Server, given: Record<string, string> = {}) {
  const [command, ...args] = programs[name] as Program;
  const env = { ...process.env, PLUMBLINE_BASE_URL: url, PLUMBLINE_API_KEY: key, ...given };
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill());
  let last: Copied | undefined;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { cleared, ...ids } = JSON.parse(line) as Copied;
    const sorted = Object.entries(ids).map(([kind, of]) => [kind, of.toSorted()]);
    last = { cleared, ...Object.fromEntries(sorted) };
  });
  return (wanted: object) => expect.poll(() => last, { timeout: 150_000 }).toEqual(wanted);
}

/** A proxy that answers the first requests itself: with these statuses, or 0 for no answer. Then it hands on. */
async function aFront(behind: string, first: number[]) {
  const statuses: number[] = [];
  const server = createServer(async (req, res) => {
    const own = first.shift();
    if (own === undefined) {
      const { authorization = '' } = req.headers;
      const answer = await fetch(behind + req.url, { headers: { authorization } });
      const body = Buffer.from(await answer.arrayBuffer());
      statuses.push(answer.status);
      const kept = ['content-type', 'plumbline-cursor', 'retry-after'];
      const headers = [...answer.headers].filter(([header]) => kept.includes(header));
      res.writeHead(answer.status, Object.fromEntries(headers)).end(body);
      return;
    }
    statuses.push(own);
    if (own === 0) res.destroy();
    else res.writeHead(own, own === 503 ? { 'Retry-After': '1' } : {}).end('no JSON');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, statuses };
}
