/**
 * Joins the libraries into few files, in `dist/node_modules`, where Node looks first. Node takes longer to find
 * and open the files of a library than to run them: kysely alone has 257.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type OutputChunk, rolldown } from 'rolldown';
import { type Imports, listImports } from './imports.ts';
import { copyPackages, type PackageJson } from './packages.ts';

/** Libraries that stay dependencies: they load native code, or start threads from files of their own. */
export const INSTALLED: readonly string[] = [
  '@node-rs/argon2',
  'better-sqlite3',
  'pino',
  'pino-pretty',
];

/** Returns the packages that are joined, also those that libraries import. */
export async function joinLibraries(root: string): Promise<PackageJson[]> {
  const imports = await listImports(root);
  const joined = imports.filter(({ library }) => !INSTALLED.includes(library));
  const entries = join(root, 'dist/entries');
  const bundle = await rolldown({
    cwd: root,
    platform: 'node',
    input: Object.fromEntries(joined.map((given) => [toName(given), writeEntry(entries, given)])),
    external: (id) => INSTALLED.some((name) => id === name || id.startsWith(`${name}/`)),
  });
  const { output } = await bundle.write({
    dir: join(root, 'dist/node_modules'),
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'shared/[name]-[hash].js',
  });
  rmSync(entries, { recursive: true });
  const chunks = output.filter((file): file is OutputChunk => file.type === 'chunk');
  const modules = chunks.flatMap(({ moduleIds }) => moduleIds);
  const packages = copyPackages(root, { imports: joined, modules });
  await requireNames(root, joined);
  return packages;
}

/** A module that exports what the product imports from a library. The rest of the library is left out. */
function writeEntry(folder: string, { id, names }: Imports): string {
  const path = join(folder, `${id}.mjs`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `export { ${names.join(', ')} } from '${id}';\n`);
  return path;
}

/** The file of a library's module: `kysely/index`, `kysely/migration`. */
function toName({ id, library }: Imports): string {
  return id === library ? `${library}/index` : id;
}

/** Joining could lose a name of a CommonJS module, which has none before it runs. */
async function requireNames(root: string, imports: readonly Imports[]): Promise<void> {
  for (const given of imports) {
    const path = join(root, 'dist/node_modules', `${toName(given)}.js`);
    const found: Record<string, unknown> = await import(pathToFileURL(path).href);
    const lost = given.names.filter((name) => found[name] === undefined);
    if (lost.length > 0) throw new Error(`The joined ${given.id} has no ${lost.join(', ')}.`);
  }
}
