import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { INSTALLED } from './libraries.ts';

/** Where the checkout's package.json is while npm packs the other. */
const SAVED = 'dist/package.json.saved';

/**
 * Replaces package.json by the package's own: without what only developing needs (Node itself among it), and
 * with its dependencies at the versions that were tested.
 */
export function writeManifest(root: string): void {
  const path = join(root, 'package.json');
  const text = readFileSync(path, 'utf8');
  const { name, version, description, license, type, bin, files, engines } = JSON.parse(text);
  const versions = INSTALLED.map((library) => [library, findVersion(root, library)]);
  const manifest = {
    ...{ name, version, description, license, type, bin, files, engines },
    dependencies: Object.fromEntries(versions),
  };
  writeFileSync(join(root, SAVED), text);
  writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Puts the checkout's package.json back. Does nothing when it is there. */
export function restoreManifest(root: string): void {
  const saved = join(root, SAVED);
  if (!existsSync(saved)) return;
  renameSync(saved, join(root, 'package.json'));
  rmSync(join(root, 'dist'), { recursive: true });
}

function findVersion(root: string, library: string): string {
  const path = join(root, 'node_modules', library, 'package.json');
  return JSON.parse(readFileSync(path, 'utf8')).version;
}
