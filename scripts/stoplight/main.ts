/**
 * Programs that read the contract as partners' tools do, for development only. `npm run mock` serves it with
 * Prism on port 4010, or on the one that `-- --port` names; `npm run check:spectral` lints it with Spectral.
 * They are installed here, as package-lock.json says, when one is first needed.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const CONTRACT = fileURLToPath(new URL('../../openapi/v1.yaml', import.meta.url));

const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  mock: ['prism', 'mock', CONTRACT],
  lint: [
    'spectral',
    'lint',
    CONTRACT,
    '--ruleset',
    `${FOLDER}spectral.yaml`,
    '--fail-severity=hint',
  ],
};

const [name = '', ...args] = process.argv.slice(2);
const [program = '', ...given] = PROGRAMS[name] ?? [];
if (program === '')
  throw new Error(`There is ${Object.keys(PROGRAMS).join(' and ')}, not “${name}”.`);

const binary = `${FOLDER}node_modules/.bin/${program}`;
if (!existsSync(binary)) run('npm', ['ci', '--ignore-scripts']);
process.exitCode = run(binary, [...given, ...args]);

function run(command: string, parameters: readonly string[]): number {
  const { error, status } = spawnSync(command, parameters, { cwd: FOLDER, stdio: 'inherit' });
  if (error !== undefined) throw error;
  return status ?? 1;
}
