/**
 * What a reader of `src/` has to find their way in: lines, files, files that only one other file imports, and the
 * files that a request of each operation and an ingested gzip pass: `npm run structure`. The last figures are measured:
 * the files of which at least one function runs, from the request's bytes to the answer's, in a server that has answered
 * another page of the list before, or from the file's bytes to the stored report, after another file.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { dirname, join, normalize, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { toInstant } from '../src/domain/instant.ts';
import { ingest } from '../src/intake/ingest.ts';
import { localParser } from '../src/intake/parser/parser.ts';
import { insertAccount } from '../src/store/accounts/accounts.ts';
import { addDomain } from '../src/store/domains/domains.ts';
import { openStore } from '../src/store/engine/open.ts';
import { operator } from '../src/store/events/audit.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SMALL_LINES = 25;
const IMPORT = /(?:from|import\()\s*'(\.[^']+)'/g;

const files = globSync('src/**/*.ts', { cwd: ROOT }).sort();
const texts = new Map(files.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]));

printModules();
printImporters();
await printRequests();
await printIngest();

function printModules(): void {
  const modules = Map.groupBy(files, (file) => file.split('/')[1] ?? '');
  for (const [module, ofModule] of modules)
    print(
      `${module.padEnd(12)} ${count(ofModule.length, 'files')} ${count(sumLines(ofModule), 'lines')}`,
    );
  print(`${'src'.padEnd(12)} ${count(files.length, 'files')} ${count(sumLines(files), 'lines')}\n`);
}

function printImporters(): void {
  const importers = new Map<string, Set<string>>();
  for (const [file, text] of texts)
    for (const [, path = ''] of text.matchAll(IMPORT)) {
      const imported = normalize(join(dirname(file), path));
      importers.set(imported, (importers.get(imported) ?? new Set()).add(file));
    }
  const once = files.filter((file) => importers.get(file)?.size === 1);
  const small = files.filter((file) => sumLines([file]) < SMALL_LINES);
  print(
    `${once.length} files have one importer; ${small.length} have fewer than ${SMALL_LINES} lines\n`,
  );
}

/** One request of each operation against a sandbox, whose functions V8 counts. */
async function printRequests(): Promise<void> {
  const server = spawn(
    process.execPath,
    ['--inspect=127.0.0.1:0', 'src/cli.ts', 'serve', '--sandbox', '--json'],
    { cwd: ROOT, env: { ...process.env, PLUMBLINE_PORT: '0' }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  try {
    const { url, key, debuggerUrl } = await started(server);
    const profiler = await connect(debuggerUrl);
    await profiler.ask('Profiler.enable');
    await profiler.ask('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    const headers = { Authorization: `Bearer ${key}` };
    const read = async (path: string) => (await fetch(url + path, { headers })).json();
    const domains = await read('/v1/external/domains');
    const reports = `/v1/external/domains/${domains.data[0].id}/reports`;
    for (const path of ['/v1/external/domains', reports, '/v1/external/alerts']) {
      await read(`${path}?offset=1`);
      const passed = await passedBy(profiler, () => read(`${path}?offset=2`));
      printPassed(`GET ${path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, '{domain_id}')}`, passed);
    }
    profiler.close();
  } finally {
    server.kill();
  }
}

/** One gzip, parsed and stored in this process. */
async function printIngest(): Promise<void> {
  const { db, close } = await openStore(':memory:');
  const now = toInstant(new Date());
  const { id: accountId } = await insertAccount(db, { name: 'Example', plan: 'pro', now });
  await db.write((tx) => addDomain(tx, { accountId, name: 'example.com', now }, operator(now)));
  const session = new Session();
  session.connect();
  const ask = session.post.bind(session) as Profiler['ask'];
  await ask('Profiler.enable');
  await ask('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const text = readFileSync(join(ROOT, 'test/fixtures/example-plain.xml'), 'utf8');
  const store = async (bytes: Uint8Array) => {
    const read = async function* () {
      yield { name: 'report.xml.gz', read: async () => ({ name: 'report.xml.gz', bytes }) };
    };
    const deps = { db, now: () => new Date(), parser: localParser };
    for await (const { outcome } of ingest(deps, read()))
      if (outcome !== 'stored') throw new Error(`The report is ${outcome}.`);
  };
  await store(gzipSync(text));
  const another = gzipSync(text.replace(/<report_id>/, '<report_id>another-'));
  printPassed('an ingested gzip', await passedBy({ ask }, () => store(another)));
  session.disconnect();
  await close();
}

function printPassed(what: string, files: readonly string[]): void {
  print(`${what}: ${files.length} files, ${sumLines(files)} lines`);
  if (process.argv.includes('--files')) for (const file of files) print(`  ${file}`);
}

interface Profiler {
  readonly ask: (method: string, params?: object) => Promise<Answer>;
  readonly close: () => void;
}

interface Answer {
  readonly result?: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[];
  }[];
}

/** The files of which a function runs during a request. Taking the counts resets them. */
async function passedBy(
  { ask }: Pick<Profiler, 'ask'>,
  request: () => Promise<unknown>,
): Promise<string[]> {
  await ask('Profiler.takePreciseCoverage');
  await request();
  const { result = [] } = await ask('Profiler.takePreciseCoverage');
  const ran = result.filter(({ functions }) =>
    functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0),
  );
  return ran
    .filter(({ url }) => url.startsWith('file:'))
    .map(({ url }) => relative(ROOT, fileURLToPath(url)))
    .filter((file) => texts.has(file))
    .sort();
}

async function started(server: ChildProcess) {
  let log = '';
  const debuggerUrl = new Promise<string>((resolve) => {
    server.stderr?.on('data', (chunk: Buffer) => {
      log += chunk;
      const [url] = /ws:\/\/\S+/.exec(log) ?? [];
      if (url !== undefined) resolve(url);
    });
  });
  const lines = createInterface({ input: server.stdout as NodeJS.ReadableStream });
  const [line] = await once(lines, 'line');
  const { base_url: url, key } = JSON.parse(String(line));
  return { url, key, debuggerUrl: await debuggerUrl };
}

/** The Chrome DevTools Protocol, one question at a time. */
async function connect(url: string): Promise<Profiler> {
  const socket = new WebSocket(url);
  await once(socket, 'open');
  let id = 0;
  const ask: Profiler['ask'] = async (method, params = {}) => {
    id += 1;
    socket.send(JSON.stringify({ id, method, params }));
    const [event] = await once(socket, 'message');
    return JSON.parse(String((event as MessageEvent).data)).result;
  };
  return { ask, close: () => socket.close() };
}

function sumLines(of: readonly string[]): number {
  return of.reduce((sum, file) => sum + (texts.get(file) ?? '').split('\n').length - 1, 0);
}

function count(of: number, unit: string): string {
  return `${of.toLocaleString('en').padStart(7)} ${unit}`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
