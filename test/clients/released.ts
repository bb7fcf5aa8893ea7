import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const RELEASED = 'openapi/released/v1.yaml';
const NEEDED = ['openapi', 'test/clients', 'package.json', 'tsconfig.json'];

/**
 * A copy of the clients of a released contract, as they were in the commit of its release, in a new folder.
 * They are generated from that contract.
 */
export function copyReleased(version: string): string {
  const commit = findRelease(version);
  const folder = mkdtempSync(join(tmpdir(), `plumbline-${version}-`));
  const archive = git('archive', commit, ...NEEDED);
  execFileSync('tar', ['x', '-C', folder], { input: archive });
  copyFileSync(join(folder, RELEASED), join(folder, 'openapi/v1.yaml'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return join(folder, 'test/clients/');
}

/** The newest commit that changed the released contract and left it at this version. */
function findRelease(version: string): string {
  const commits = git('log', '--format=%H', '--', RELEASED).toString().trim().split('\n');
  const found = commits.find((commit) => versionAt(commit) === version);
  if (found === undefined)
    throw new Error(`The history of this clone has no release ${version} of the contract.`);
  return found;
}

function versionAt(commit: string): string | undefined {
  return parse(git('show', `${commit}:${RELEASED}`).toString()).info.version;
}

function git(...args: string[]): Buffer {
  return execFileSync('git', args, { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 });
}
