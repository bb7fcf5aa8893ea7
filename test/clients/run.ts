/**
 * Makes one of the clients and runs its program against a sandbox of its own: `npm run test:client -- go`.
 * `npm run test:client -- go 1.0.0` takes the client of an earlier contract, which has to work with this server;
 * `-- typescript --postgres` goes through the scenario on PostgreSQL as well, whose answers are the same bytes.
 *
 * Each client has a folder here. Its build.sh installs the pinned generator, generates from openapi/v1.yaml into
 * build/ and compiles with the language's strict settings. Its run.sh goes through the checks of scenario.txt
 * against PLUMBLINE_BASE_URL with PLUMBLINE_API_KEY, PLUMBLINE_UNAVAILABLE_URL for the 503 and PLUMBLINE_EXPIRED_CURSOR for
 * the 410, and prints one line for each check, which is one of
 *
 *     ok 304
 *     ok 304 # what this client does differently, in a few words
 *     not ok 304: what was seen
 *
 * The samples of the docs are parts of some of these programs, and are then run alone (pasted.ts).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createDatabase } from '../../scripts/postgres-database.ts';
import { runPlumbline, servePlumbline, serveSandbox } from '../../scripts/served-plumbline.ts';
import { fillSandbox } from '../../src/demo/sandbox-data.ts';
import { SANDBOX_ACCOUNT_ID } from '../../src/domain/sandbox.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { reportList } from '../../src/store/lists/timeline.ts';
import { toExpired } from '../support/expired-cursor.ts';
import { startPostgres } from '../support/postgres.ts';
import { runPasted } from './pasted.ts';
import { copyReleased } from './released.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { postgres: { type: 'boolean' } },
});
const [name = '', version] = positionals;
const OWN = fileURLToPath(new URL('.', import.meta.url));
const CLIENTS_FOLDER = version === undefined ? OWN : copyReleased(version);
const toPath = (path: string) => join(CLIENTS_FOLDER, path);
const CHECKS = readFileSync(toPath('scenario.txt'), 'utf8').trim().split('\n');
const OK = /^ok (.+?)( # .*)?$/;

/** Every folder with a build.sh is a client. */
const CLIENTS = globSync('*/build.sh', { cwd: toPath('.') }).map((script) => dirname(script));

if (!CLIENTS.includes(name))
  throw new Error(`no client “${name}”; there are ${CLIENTS.join(', ')}`);
const folder = toPath(`${name}/`);

const unavailable = createServer((_req, res) => {
  const error = { code: 'unavailable', message: 'The service cannot answer at the moment.' };
  res
    .writeHead(503, {
      'Content-Type': 'application/json',
      'Retry-After': '5',
      'Cache-Control': 'no-store',
      RateLimit: '"ip";r=199;t=60, "key";r=59;t=60',
      'RateLimit-Policy': '"ip";q=200;w=60, "key";q=60;w=60',
      'X-Request-Id': 'unavailable-1',
    })
    .end(JSON.stringify({ error }));
});
await build();
const results = [await runOn('memory', undefined)];
if (values.postgres) {
  const postgres = await startPostgres();
  results.push(await runOn('PostgreSQL', postgres.toUrl('postgres')));
  await postgres.stop();
}
if (version === undefined) results.push(await runPasted(name, folder, print));
const sum = (of: 'passed' | 'failed') => results.reduce((total, result) => total + result[of], 0);
print(`${sum('passed')} passed, ${sum('failed')} failed`);
process.exitCode = results.every(({ isWhole }) => isWhole) ? 0 : 1;

/** Goes through the scenario against a sandbox in memory, or a service with the sandbox's data on a PostgreSQL server. */
async function runOn(engine: string, server: string | undefined) {
  print(`the sandbox's data is in ${engine}`);
  const { lines, status } = await run(server);
  const passed = CHECKS.filter((check) => lines.some((line) => OK.exec(line)?.[1] === check));
  // A check that was not reached has failed.
  const failed = CHECKS.filter((check) => !passed.includes(check));
  for (const check of failed) print(`✗ ${name} on ${engine}: ${check}`);
  // More lines than checks mean that one is not in the scenario.
  const isWhole = failed.length === 0 && lines.length === CHECKS.length && status === 0;
  return { passed: passed.length, failed: failed.length, isWhole };
}

async function build(): Promise<void> {
  const started = performance.now();
  const [status] = await once(
    spawn(toPath(`${name}/build.sh`), { cwd: folder, stdio: 'inherit' }),
    'close',
  );
  if (status !== 0) throw new Error(`${name} could not be built: status ${status}`);
  print(`built in ${Math.round((performance.now() - started) / 1000)} s`);
}

/** The program's output and exit status. The sandbox is new, and so are its limits. */
async function run(server: string | undefined) {
  const { url, key, stop } = await (server === undefined ? serveSandbox() : serveOn(server));
  try {
    return await runProgram({
      PLUMBLINE_BASE_URL: url,
      PLUMBLINE_API_KEY: key,
      PLUMBLINE_UNAVAILABLE_URL: await startUnavailable(),
      PLUMBLINE_EXPIRED_CURSOR: await findExpired(`${url}/v1/external/domains`, key),
    });
  } finally {
    await stop();
    unavailable.close();
  }
}

/** Nothing evaluates the alerts of made-up data: its reports would count as missing. */
async function serveOn(server: string) {
  const database = { PLUMBLINE_DATABASE: await createDatabase(server) };
  const store = await openStore(database.PLUMBLINE_DATABASE);
  await fillSandbox(store, new Date());
  await store.close();
  const { key } = await runPlumbline(['key', 'create', SANDBOX_ACCOUNT_ID, 'Client'], database);
  return { ...(await servePlumbline(['serve', '--only', 'api'], database)), key };
}

/** Of the reports of example.com. */
async function findExpired(domains: string, key: string): Promise<string> {
  const get = (path = '') => fetch(domains + path, { headers: { Authorization: `Bearer ${key}` } });
  const { data } = (await (await get()).json()) as { data: { id: string; domain: string }[] };
  const { id = '' } = data.find(({ domain }) => domain === 'example.com') ?? {};
  const cursor = (await get(`/${id}/reports`)).headers.get('Plumbline-Cursor') ?? '';
  return toExpired(reportList(id), cursor);
}

/** What a server answers whose database restarts, which a sandbox has in memory. */
async function startUnavailable(): Promise<string> {
  unavailable.listen(0, '127.0.0.1');
  await once(unavailable, 'listening');
  return `http://127.0.0.1:${(unavailable.address() as AddressInfo).port}`;
}

async function runProgram(given: Readonly<Record<string, string>>) {
  const env = { ...process.env, ...given };
  const program = spawn(toPath(`${name}/run.sh`), {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(program, 'close');
  const lines: string[] = [];
  for await (const line of createInterface({ input: program.stdout })) {
    print(line);
    lines.push(line);
  }
  const [status] = await ended;
  return { lines, status };
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
