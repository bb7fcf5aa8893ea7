import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { findNewestBackup } from '../../domain/backup-names.ts';

/** When the newest backup of a folder was made, in milliseconds since 1970; undefined when there is none. */
export async function findBackupMs(folder: string): Promise<number | undefined> {
  const newest = findNewestBackup(await readdir(folder).catch(() => []));
  return newest === undefined ? undefined : (await stat(join(folder, newest))).mtimeMs;
}
