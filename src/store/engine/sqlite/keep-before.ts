import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, linkSync, openSync, rmSync } from 'node:fs';
import { copyPages } from './copy-pages.ts';

/** Only the user that runs Plumbline reads a copy: it holds what the database does. */
const FILE_MODE = 0o600;

/**
 * Copies a database beside itself before it is migrated (`plumbline.db.before-0002-names`, by the last migration), so that
 * the version from before can be put back. Only the operator removes it. One that is there is of an earlier attempt.
 */
export async function keepBefore(path: string, migration: string): Promise<void> {
  const copy = `${path}.before-${migration}`;
  if (existsSync(copy)) return;
  const part = `${copy}.${randomUUID()}.part`;
  try {
    closeSync(openSync(part, 'wx', FILE_MODE));
    await copyPages(path, part);
    // Never over a copy that another process has made meanwhile: this one may be of the migrated database.
    if (!existsSync(copy)) linkSync(part, copy);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    for (const end of ['', '-wal', '-shm', '-journal']) rmSync(`${part}${end}`, { force: true });
  }
}
