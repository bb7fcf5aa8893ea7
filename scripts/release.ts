/**
 * `npm run release -- 1.2.0`: gives the package and the changelog their version, releases the contract when it has changed,
 * keeps the schema of the database, and writes the folder `release/` (not with `--no-pack`). It commits nothing.
 * `npm run release -- --pack-only` writes the folder from the checkout as it is. `--sign <key>` signs the checksums with a private
 * key of OpenSSH.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readVersion } from './contract/check.ts';
import { signRelease, writeRelease } from './pack/release-folder.ts';

const CHANGELOG = 'CHANGELOG.md';
const FOLDER = join(process.cwd(), 'release');
const { positionals, values: options } = parseArgs({
  allowPositionals: true,
  options: {
    'pack-only': { type: 'boolean' },
    'no-pack': { type: 'boolean' },
    sign: { type: 'string' },
  },
});
const [version = ''] = positionals;

const run = (command: string, ...args: readonly string[]) =>
  execFileSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });

function fail(reason: string): never {
  process.stderr.write(`✗ ${reason}\n`);
  process.exit(1);
}

const toNumbers = (text: string): readonly number[] => text.split('.').map(Number);

function isAfter(version: string, other: string): boolean {
  const [numbers, others] = [toNumbers(version), toNumbers(other)];
  const differs = numbers.findIndex((number, i) => number !== others[i]);
  return differs !== -1 && Number(numbers[differs]) > Number(others[differs]);
}

/** A contract that is not as it was released gets the number of the release. */
function requireContract(): void {
  const [current, released] = ['openapi/v1.yaml', 'openapi/released/v1.yaml'] as const;
  const named = readVersion(current);
  if (!readFileSync(current).equals(readFileSync(released)) && named !== version)
    fail(`the contract has changed, and its info.version is ${named}`);
}

function pack(): void {
  process.stderr.write('Packing takes a minute, python3, and up to 1.1 GB of memory.\n');
  writeRelease(FOLDER, { isSigned: options.sign !== undefined });
  if (options.sign !== undefined) signRelease(FOLDER, options.sign);
  process.stdout.write(`The release is in ${FOLDER}: copy all of it.\n`);
}

function release(): void {
  if (!/^\d+\.\d+\.\d+$/.test(version))
    fail('npm run release -- <version>, such as 1.2.0, or --pack-only');
  const changelog = readFileSync(CHANGELOG, 'utf8');
  const [, last = '0.0.0'] = /^## (\d+\.\d+\.\d+)/m.exec(changelog) ?? [];
  if (!isAfter(version, last)) fail(`${version} does not follow ${last}`);
  if (!changelog.includes('\n## Unreleased\n')) fail(`${CHANGELOG} has nothing under “Unreleased”`);
  if (execFileSync('git', ['status', '--porcelain']).length > 0)
    fail('there are changes that are not committed');
  requireContract();
  run('npm', 'test');

  const day = new Date().toISOString().slice(0, 10);
  writeFileSync(CHANGELOG, changelog.replace('\n## Unreleased\n', `\n## ${version} (${day})\n`));
  run('npm', 'version', version, '--no-git-tag-version', '--ignore-scripts');
  run(process.execPath, 'scripts/contract/main.ts', 'release', version);
  process.stdout.write(
    `Commit this as version ${version}. The first change after it has “## Unreleased” in ${CHANGELOG}, and the next version ` +
      'with -dev in package.json: npm version --no-git-tag-version <version>-dev\n',
  );
}

if (!options['pack-only']) release();
if (!options['no-pack']) pack();
