import {
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { findCommit } from '../../src/config/version.ts';
import { INSTALLED } from './libraries.ts';
import type { PackageJson } from './packages.ts';

/** Where the checkout's package.json and documents are while npm packs the others. */
const SAVED = 'dist/saved';
/** Begins the names by which the package depends on joined libraries: under their own names are the checkout's. */
const JOINED = 'joined-';

/**
 * Replaces package.json by the package's own: without what only developing needs (Node itself among it), and
 * with its dependencies at the versions that were tested. Of a joined library the package brings a package.json, so that
 * `npm audit` of an installation knows it. Links of its documents to files that it lacks say where else they are; its README has
 * no pictures.
 */
export function writeManifest(root: string, joined: readonly PackageJson[]): void {
  const text = readFileSync(join(root, 'package.json'), 'utf8');
  const { name, version, description, license, type, bin, files, engines } = JSON.parse(text);
  const versions = INSTALLED.map((library) => [library, findVersion(root, library)]);
  const aliases = Object.fromEntries(joined.map(toAlias));
  const manifest = {
    ...{ name, version, commit: findCommit(root), description, license, type, bin, files, engines },
    dependencies: { ...Object.fromEntries(versions), ...aliases },
    bundleDependencies: Object.keys(aliases),
  };
  for (const { name, version, license } of joined) {
    const folder = join(root, 'node_modules', toAlias({ name, version })[0]);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version, license }));
  }
  replace(root, 'package.json', `${JSON.stringify(manifest, null, 2)}\n`);
  for (const document of globSync('{*,docs/**/*}.md', { cwd: root }).filter(isPackedIn(files))) {
    const written = readFileSync(join(root, document), 'utf8');
    replace(root, document, unlink(document, written, isPackedIn(files)));
  }
}

/** npm packs these whatever `files` has. */
const ALWAYS = ['package.json', 'README.md', 'LICENSE'];

const isPackedIn = (files: readonly string[]) => (path: string) =>
  [...ALWAYS, ...files].some((one) => path === one || path.startsWith(`${one}/`));

const PICTURE = /<picture>.*?<\/picture>\n+/gs;

function unlink(document: string, text: string, isPacked: (path: string) => boolean): string {
  return text
    .replaceAll(PICTURE, '')
    .replaceAll(/\[([^\]]+)\]\((?!https?:|#)([^)#\s]+)([^)\s]*)\)/g, (link, name, target, part) => {
      const path = join(dirname(document), target);
      return isPacked(path) ? link : `${name} (${toPlace(path, part)})`;
    });
}

/** Every server has the guides. */
function toPlace(path: string, part: string): string {
  const [, slug] = /^openapi\/guides\/(.+)\.md$/.exec(path) ?? [];
  return slug === undefined ? `\`${path}\` of a checkout` : `\`/docs/${slug}${part}\` of a server`;
}

function replace(root: string, path: string, text: string): void {
  const saved = join(root, SAVED, path);
  mkdirSync(dirname(saved), { recursive: true });
  renameSync(join(root, path), saved);
  writeFileSync(join(root, path), text);
}

/** Puts the checkout's package.json and documents back. Does nothing when they are there. */
export function restoreManifest(root: string): void {
  const saved = join(root, SAVED);
  if (!existsSync(saved)) return;
  for (const path of globSync('**/*.{md,json}', { cwd: saved }))
    renameSync(join(saved, path), join(root, path));
  for (const folder of globSync(`node_modules/${JOINED}*`, { cwd: root }))
    rmSync(join(root, folder), { recursive: true });
  rmSync(join(root, 'dist'), { recursive: true });
}

/** With the version, because a library can be there twice. */
function toAlias({ name, version }: PackageJson): [alias: string, spec: string] {
  return [
    `${JOINED}${name.replace('@', '').replace('/', '-')}-${version}`,
    `npm:${name}@${version}`,
  ];
}

function findVersion(root: string, library: string): string {
  const path = join(root, 'node_modules', library, 'package.json');
  return JSON.parse(readFileSync(path, 'utf8')).version;
}
