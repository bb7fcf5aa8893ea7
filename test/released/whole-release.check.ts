import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { aFolder } from '../support/command.ts';

const VERSION = '99.0.0';
const DAY = /\(\d{4}-\d\d-\d\d\)/;

/** A clone of this checkout, in which something is to be released as 99.0.0, contract included. Its tests end with a code. */
async function aClone(failedTests = 0) {
  const folder = join(await aFolder(), 'clone');
  execFileSync('git', ['clone', '--quiet', '.', folder]);
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
  const read = (path: string) => readFileSync(join(folder, path), 'utf8');
  const edit = (path: string, from: RegExp, to: string) =>
    writeFileSync(join(folder, path), read(path).replace(from, to));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder });
  edit('CHANGELOG.md', /^## .*$/m, '## Unreleased');
  edit('openapi/v1.yaml', /^ {2}version: .*$/m, `  version: ${VERSION}`);
  edit('package.json', /"version": ".*"/, `"version": "${VERSION}-dev"`);
  edit('package.json', /"test": ".*"/, `"test": "exit ${failedTests}"`);
  git('config', 'user.email', 'somebody@example.com');
  git('config', 'user.name', 'Somebody');
  git('commit', '--quiet', '--all', '--message', 'Something is to be released');
  const node = (...args: string[]) =>
    execFileSync(process.execPath, args, { cwd: folder, stdio: 'pipe' }).toString();
  return { read, edit, node, has: (path: string) => existsSync(join(folder, path)) };
}

const release = ['scripts/release.ts', VERSION, '--no-pack'];

test('one command releases the package, the changelog, the contract and the schema under one version', async () => {
  const { read, node, has } = await aClone();
  expect(node('bin/plumbline.js', '--version')).toMatch(/^99\.0\.0-dev\+[0-9a-f]{7,}\n$/);
  node(...release);
  expect(node('bin/plumbline.js', '--version')).toBe(`${VERSION}\n`);
  expect(read('CHANGELOG.md')).toMatch(RegExp(`^## ${VERSION} ${DAY.source}$`, 'm'));
  expect(read('CHANGELOG.md')).not.toContain('## Unreleased');
  expect(read('openapi/released/v1.yaml')).toBe(read('openapi/v1.yaml'));
  for (const engine of ['sqlite', 'postgres'])
    expect(has(`test/store/schemas/${VERSION}-${engine}.sql`)).toBe(true);
});

test('nothing is released whose tests fail', async () => {
  const { node, read } = await aClone(1);
  expect(() => node(...release)).toThrow('npm test');
  expect(read('CHANGELOG.md')).toContain('## Unreleased');
});

test('nothing is released beside changes that are not committed, or under the number of an earlier release', async () => {
  const { edit, node } = await aClone();
  expect(() => node('scripts/release.ts', '1.0.0', '--no-pack')).toThrow('does not follow');
  edit('README.md', /^/, 'Changed.\n');
  expect(() => node(...release)).toThrow('not committed');
});
