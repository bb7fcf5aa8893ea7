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
import { listCodes } from '../contract/codes.ts';

const toPath = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const CONTRACT = toPath('../../openapi/v1.yaml');
const { info, components } = parse(readFileSync(CONTRACT, 'utf8'));
const { version } = info;
const { schemas } = components;

const PACKS: Readonly<Record<string, (folder: string) => void>> = {
  typescript: (folder) => {
    for (const file of ['index.ts', 'tsconfig.json'])
      cpSync(toPath(`typescript/${file}`), join(folder, file));
    run(folder, 'npx', ['openapi-typescript', CONTRACT, '--output', 'v1.d.ts']);
    writeFileSync(join(folder, 'codes.d.ts'), renderCodes(toUnion));
    const about = JSON.parse(readFileSync(toPath('typescript/package.json'), 'utf8'));
    const files = ['index.js', 'index.d.ts', 'v1.d.ts', 'codes.d.ts'];
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
    for (const file of ['__init__.py', 'py.typed'])
      cpSync(toPath(`python/${file}`), join(folder, 'plumbline_client', file));
    writeFileSync(
      join(folder, 'plumbline_client/codes.py'),
      `from typing import Literal\n\n${renderCodes(toLiteral)}`,
    );
    run(folder, join(bin, 'mypy'), ['plumbline_client/__init__.py', 'plumbline_client/codes.py']);
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
pack(folder);
const packed = readdirSync(folder).find((file) => /\.(tgz|whl)$/.test(file)) as string;
process.stdout.write(`${join(folder, packed)}\n`);

/** The lists of codes as types by their places, `NextStepCode`; in the models they are texts, because more may come. */
function renderCodes(toType: (name: string, codes: readonly string[]) => string): string {
  return [...listCodes(schemas)]
    .map(([place, codes]) => {
      const parts = place.split(/[._]/).map((part) => part.charAt(0).toUpperCase() + part.slice(1));
      return toType(
        parts.join(''),
        codes.map((code) => JSON.stringify(code)),
      );
    })
    .join('');
}

function toUnion(name: string, codes: readonly string[]): string {
  return `export type ${name} = ${codes.join(' | ')};\n`;
}

function toLiteral(name: string, codes: readonly string[]): string {
  return `${name} = Literal[${codes.join(', ')}]\n`;
}

function run(cwd: string, command: string, args: readonly string[]): void {
  const env = { ...process.env, PATH: `${toPath('build/venv/bin')}:${process.env['PATH']}` };
  execFileSync(command, args, { cwd, env, stdio: ['ignore', 2, 2] });
}
