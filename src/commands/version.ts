import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FILE = new URL('../../package.json', import.meta.url);

interface Manifest {
  readonly version: string;
  /** A package of what is not released says of which commit it was made (scripts/pack/manifest.ts). */
  readonly commit?: string;
}

/** The package's version; of what is not released with the commit: `1.2.0-dev+1f2e3d4`. */
export function readVersion(): string {
  const { version, commit }: Manifest = JSON.parse(readFileSync(FILE, 'utf8'));
  if (!version.endsWith('-dev')) return version;
  const of = commit ?? findCommit(fileURLToPath(new URL('.', FILE)));
  return of === undefined ? version : `${version}+${of}`;
}

/** Of a checkout. undefined without git. A folder above may be the checkout of another program. */
export function findCommit(root: string): string | undefined {
  if (!existsSync(join(root, '.git'))) return undefined;
  try {
    const of = ['rev-parse', '--short=7', 'HEAD'];
    return execFileSync('git', of, { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim();
  } catch {
    return undefined;
  }
}
