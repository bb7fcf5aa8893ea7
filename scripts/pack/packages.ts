import { copyFileSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Imports } from './imports.ts';

/** The files of libraries that pages load. */
const ASSETS = ['@picocss/pico/css/pico.min.css', 'htmx.org/dist/htmx.min.js'];

export interface PackageJson {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/** Writes the package.json of each joined library, the assets, and the licences of all that is in them. Returns these. */
export function copyPackages(
  root: string,
  { imports, modules }: { imports: readonly Imports[]; modules: readonly string[] },
): PackageJson[] {
  for (const [library, entries] of Map.groupBy(imports, (given) => given.library)) {
    const exports = Object.fromEntries(entries.map(({ id }) => toExport(library, id)));
    const { name, version, license } = readPackage(join(root, 'node_modules', library));
    const manifest = { name, version, license, type: 'module', exports };
    write(join(root, 'dist/node_modules', library, 'package.json'), JSON.stringify(manifest));
  }
  const folders = new Set(modules.flatMap(toFolder));
  for (const asset of ASSETS) {
    const target = join(root, 'dist/node_modules', asset);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(root, 'node_modules', asset), target);
    for (const folder of toFolder(join(root, 'node_modules', asset))) folders.add(folder);
  }
  write(
    join(root, 'dist/node_modules/LICENSES.txt'),
    [...folders].sort().map(renderLicense).join('\n'),
  );
  return [...folders].map(readPackage);
}

function toExport(library: string, id: string): [string, string] {
  const path = id.slice(library.length + 1);
  return path === '' ? ['.', './index.js'] : [`./${path}`, `./${path}.js`];
}

/** The folder of the package that a file belongs to; none for a file of our own. */
function toFolder(file: string): string[] {
  const [folder] = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? [];
  return folder === undefined ? [] : [folder];
}

function renderLicense(folder: string): string {
  const { name, version, license } = readPackage(folder);
  const texts = globSync('{licen[cs]e,LICEN[CS]E,COPYING,NOTICE}*', { cwd: folder })
    .sort()
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return `## ${name} ${version} (${license})\n\n${texts.join('\n\n')}\n`;
}

function readPackage(folder: string): PackageJson {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
