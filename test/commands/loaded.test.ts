import { expect, test } from 'vitest';
import { aCommand, finish, printed } from '../support/command.ts';

/** Prints, when the process ends, the URL of each module that it has loaded, and the names of Node's own. */
const RECORDER = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  const loaded = [];
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
  process.on('exit', () => process.stderr.write(loaded.concat(process.moduleLoadList).join('\\n')));
`)}`;
const ROOT = new URL('../../', import.meta.url).href;
const SOURCE = `${ROOT}src/`;
const PACKAGE = /\/node_modules\/((?:@[^/]+\/)?[^/]+)/;
/** The modules that serve, read and evaluate. */
const OTHERS = /^src\/(http|jobs|alerts|demo|external|intake|settings)\b/;

interface Loaded {
  /** The product's modules, by path. */
  readonly modules: readonly string[];
  readonly packages: readonly string[];
  /** Node's own modules. */
  readonly builtins: readonly string[];
}

function toLoaded(stderr: string): Loaded {
  const lines = stderr.split('\n');
  const urls = lines.filter((line) => line.startsWith('file:'));
  const builtins = lines.flatMap((line) => /^NativeModule (.+)/.exec(line)?.[1] ?? []);
  const modules = urls.filter((url) => url.startsWith(SOURCE)).map((url) => url.slice(ROOT.length));
  const packages = urls.flatMap((url) => PACKAGE.exec(url)?.[1] ?? []);
  return { modules, packages: [...new Set(packages)].sort(), builtins };
}

const aRecordedCommand = () => aCommand({ NODE_OPTIONS: `--import=${RECORDER}` });

/** What reads the content of documents, which only a process of its own does; and made-up data. */
const PARSING = /^src\/(?:intake\/(?:document|report|containers\/open)|demo\/)/;

/** The settings pages. */
const PAGES = /^src\/settings\/(?:frame|pages|sign-in)\//;

test('the help loads no module of any command', async () => {
  const { run } = await aRecordedCommand();
  for (const args of [['--help'], ['help'], ['nonsense']]) {
    expect(toLoaded((await run(args)).stderr)).toMatchObject({
      modules: ['src/cli.ts', 'src/commands/program.ts'],
      packages: ['commander'],
    });
  }
});

test('a command loads neither the modules nor the packages of another', async () => {
  const { run } = await aRecordedCommand();
  await run(['account', 'create', 'A']);
  const { modules, packages } = toLoaded((await run(['account', 'list'])).stderr);
  expect(modules).toContain('src/commands/account.ts');
  expect(modules.filter((path) => OTHERS.test(path))).toEqual([]);
  expect(modules.filter((path) => /\/\d{4}-/.test(path))).toEqual([]);
  expect(packages).toEqual([
    ...['better-sqlite3', 'commander', 'fastest-levenshtein', 'kysely', 'lru-cache'],
  ]);
});

test('a server loads the pages, what reads reports, checks passwords and signs in elsewhere when it is needed', async () => {
  const { start } = await aRecordedCommand();
  const server = start('serve');
  const ended = finish(server);
  await printed(server, /listens on/);
  server.kill('SIGTERM');
  const { modules, packages, builtins } = toLoaded((await ended).stderr);
  expect(modules).toContain('src/http/server.ts');
  expect(modules.filter((path) => PARSING.test(path))).toEqual([]);
  expect(modules.filter((path) => PAGES.test(path))).toEqual([]);
  expect(packages).toContain('openapi-backend');
  const late = ['@node-rs/argon2', 'openid-client', 'pino-pretty', 'saxes', 'tldts', 'yauzl'];
  expect(packages.filter((name) => late.includes(name))).toEqual([]);
  expect(builtins).toContain('http');
  expect(builtins.filter((name) => /undici|http2/.test(name))).toEqual([]);
});

test('a worker loads no server', async () => {
  const { start, run } = await aRecordedCommand();
  await run(['account', 'create', 'A']);
  const worker = start('work');
  const ended = finish(worker);
  await printed(worker, /works on/);
  worker.kill('SIGTERM');
  const { modules, packages } = toLoaded((await ended).stderr);
  expect(modules).toContain('src/alerts/evaluate.ts');
  expect(
    modules.filter((path) => /^src\/(http\/(?:server|app)|external|settings)\b/.test(path)),
  ).toEqual([]);
  expect(packages.filter((name) => /express|openapi|smtp|imap|redis|^pg$/.test(name))).toEqual([]);
});
