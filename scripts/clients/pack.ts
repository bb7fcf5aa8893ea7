/**
 * Packs the clients for TypeScript and Python with the contract's version: `npm run pack:client -- typescript` or `-- python`,
 * which needs python3. The package is in scripts/clients/build/ then, and its path is printed. What is
 * not generated is beside this file.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { renderTypes } from '../contract/types.ts';

const toPath = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const CONTRACT = toPath('../../openapi/v1.yaml');
const { version } = parse(readFileSync(CONTRACT, 'utf8')).info;

const PACKS: Readonly<Record<string, (folder: string) => void | Promise<void>>> = {
  typescript: async (folder) => {
    for (const file of ['index.ts', 'tsconfig.json'])
      cpSync(toPath(`typescript/${file}`), join(folder, file));
    writeFileSync(join(folder, 'v1.d.ts'), await renderTypes({ isOpen: true }));
    const about = JSON.parse(readFileSync(toPath('typescript/package.json'), 'utf8'));
    const files = ['index.js', 'index.d.ts', 'v1.d.ts'];
    writeFileSync(
      join(folder, 'package.json'),
      JSON.stringify({ ...about, version, files }, null, 2),
    );
    const tsc = toPath('../../node_modules/typescript-native/bin/tsc');
    run(folder, process.execPath, [tsc, '--project', '.']);
    run(folder, 'npm', ['pack', '--silent']);
  },
  python: (folder) => {
    const about = readFileSync(toPath('python/pyproject.toml'), 'utf8');
    writeFileSync(join(folder, 'pyproject.toml'), about.replace('"0.0.0"', `"${version}"`));
    const bin = toPath('build/venv/bin');
    run(folder, 'python3', ['-m', 'venv', '../venv']);
    const pinned = toPath('../../test/clients/python/requirements.txt');
    run(folder, join(bin, 'pip'), ['install', '--quiet', '--requirement', pinned]);
    const target = ['--meta', 'none', '--output-path', 'plumbline_client', '--fail-on-warning'];
    run(folder, join(bin, 'openapi-python-client'), ['generate', '--path', CONTRACT, ...target]);
    cpSync(toPath('python/__init__.py'), join(folder, 'plumbline_client/__init__.py'));
    run(folder, join(bin, 'mypy'), ['plumbline_client/__init__.py']);
    run(folder, join(bin, 'pip'), ['wheel', '--quiet', '--no-deps', '.']);
  },
};

const [name = ''] = process.argv.slice(2);
const pack = PACKS[name];
if (pack === undefined)
  throw new Error(`There is ${Object.keys(PACKS).join(' and ')}, not “${name}”.`);
const folder = toPath(`build/${name}`);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
cpSync(toPath('README.md'), join(folder, 'README.md'));
await pack(folder);
const packed = readdirSync(folder).find((file) => /\.(tgz|whl)$/.test(file)) as string;
process.stdout.write(`${join(folder, packed)}\n`);

function run(cwd: string, command: string, args: readonly string[]): void {
  const env = { ...process.env, PATH: `${toPath('build/venv/bin')}:${process.env['PATH']}` };
  execFileSync(command, args, { cwd, env, stdio: ['ignore', 2, 2] });
}
