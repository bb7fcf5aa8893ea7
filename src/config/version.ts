import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { once } from '../domain/text.ts';

const FILE = new URL('../../package.json', import.meta.url);

/** The package's version, with the commit where it is not released: `1.2.0-dev+1f2e3d4`. */
export const readVersion = once((): string => {
  // A package of what is not released says of which commit it was made (scripts/pack/manifest.ts).
  const manifest: { version: string; commit?: string } = JSON.parse(readFileSync(FILE, 'utf8'));
  const { version } = manifest;
  if (!version.endsWith('-dev')) return version;
  const commit = manifest.commit ?? findCommit(fileURLToPath(new URL('.', FILE)));
  return commit === undefined ? version : `${version}+${commit}`;
});

/** The commit of a checkout; undefined without git. A folder above may be the checkout of another program. */
export function findCommit(root: string): string | undefined {
  if (!existsSync(join(root, '.git'))) return undefined;
  try {
    const args = ['rev-parse', '--short=7', 'HEAD'];
    return execFileSync('git', args, { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim();
  } catch {
    return undefined;
  }
}
