import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Config } from '../config/config.ts';
import { findDatabaseFile } from '../domain/database-address.ts';

/**
 * Other users of the machine must not read reports, addresses and hashes of passwords, nor the key of secrets.
 * A key file that was configured may be readable for the server's group.
 */
export function warnOfLooseFiles(
  { database, secretsKeyFile: keyFile }: Pick<Config, 'database'> & Partial<Config>,
  warn: (text: string) => void,
): void {
  const check = (path: string, isForGroup: boolean) => {
    const mode = findLooseMode(path, isForGroup);
    const right = isForGroup ? '640' : '600';
    if (mode !== undefined)
      warn(`Other users can access ${path} (mode ${mode}). To end that: chmod ${right} ${path}`);
  };
  const file = findDatabaseFile(database);
  if (file !== undefined) check(file, false);
  if (keyFile !== undefined) check(keyFile.path, !keyFile.isMade);
}

/**
 * A database, or its key, that root has made is of no use to the user that its folder is for. Of a database that was there, SQLite
 * gives the files beside it the same owner.
 */
export function warnOfOwner(file: string, warn: (text: string) => void): void {
  const folder = dirname(file);
  if (process.getuid?.() !== 0 || statSync(folder).uid === 0 || statSync(file).uid !== 0) return;
  warn(
    `${file} belongs to root, so the user whose folder it is in cannot use it. To end that: chown --reference=${folder} ${file}*`,
  );
}

/** Every right of the group and of all others. */
const OTHERS = 0o077;
/** The same, except that the group may read. */
const OUTSIDE_GROUP = 0o037;
/** Permission to reach what is in a folder, for the group and for all others. */
const OTHERS_ENTER = 0o011;

/**
 * The mode of a file that other users (the group too, unless `mayGroupRead`) can read or write; else undefined.
 *
 * @internal Tests call it.
 */
export function findLooseMode(path: string, mayGroupRead = false): string | undefined {
  if (process.platform === 'win32') return undefined;
  const file = statSync(path, { throwIfNoEntry: false });
  const folder = statSync(dirname(path), { throwIfNoEntry: false });
  if (file === undefined || folder === undefined) return undefined;
  const isOpen = (file.mode & (mayGroupRead ? OUTSIDE_GROUP : OTHERS)) !== 0;
  if (!isOpen || (folder.mode & OTHERS_ENTER) === 0) return undefined;
  return (file.mode & 0o777).toString(8).padStart(4, '0');
}
