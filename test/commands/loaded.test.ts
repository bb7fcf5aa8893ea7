import { expect, test } from 'vitest';
import { aCommand } from '../support/command.ts';

/** Prints, when the process ends, the URL of each module that it has loaded. */
const RECORDER = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  const loaded = [];
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
  process.on('exit', () => process.stderr.write(loaded.join('\\n')));
`)}`;
const ROOT = new URL('../../', import.meta.url).href;
const PACKAGE = /^node_modules\/((?:@[^/]+\/)?[^/]+)/;
/** The modules that serve, read and evaluate. */
const OTHERS = /^src\/(server|app|docs|alerts|demo|external|intake|settings)\b/;

/** What a command loads: the product's modules by path, and the packages by name. */
async function loadedBy(...args: string[]): Promise<{ modules: string[]; packages: string[] }> {
  const { run } = await aCommand({ NODE_OPTIONS: `--import=${RECORDER}` });
  await run(['account', 'create', 'A']);
  const { stderr } = await run(args);
  const files = stderr.split('\n').filter((url) => url.startsWith(ROOT));
  const paths = files.map((url) => url.slice(ROOT.length));
  const packages = paths.flatMap((path) => PACKAGE.exec(path)?.[1] ?? []);
  return {
    modules: paths.filter((path) => path.startsWith('src/')),
    packages: [...new Set(packages)].sort(),
  };
}

test('the help loads no module of any command', async () => {
  for (const args of [['--help'], ['help'], ['nonsense']]) {
    expect(await loadedBy(...args)).toEqual({
      modules: ['src/cli.ts', 'src/commands/program.ts'],
      packages: ['commander'],
    });
  }
});

test('a command loads neither the modules nor the packages of another', async () => {
  const { modules, packages } = await loadedBy('account', 'list');
  expect(modules).toContain('src/commands/account.ts');
  expect(modules.filter((path) => OTHERS.test(path))).toEqual([]);
  expect(packages).toEqual(['better-sqlite3', 'commander', 'kysely', 'lru-cache']);
});
