import { lstat, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describeSystemError } from '../../../domain/system-error.ts';

/** A place that is watched: a folder for any files, a Maildir, or a mailbox file (mbox). */
export type PlaceKind = 'drop' | 'maildir' | 'mbox';

/**
 * What is at the path now. The configured path itself may be a link. Throws an Error that says what to do when there is
 * nothing, or something else.
 */
export async function findKind(path: string): Promise<PlaceKind> {
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
    const cure = error.code === 'ENOENT' ? '; make it, or correct PLUMBLINE_WATCH' : '';
    throw new Error(`${describeSystemError(error)}${cure}`);
  });
  if (stats.isFile()) return 'mbox';
  if (!stats.isDirectory()) throw new Error('it is neither a folder nor a mailbox file');
  const parts = await Promise.all(['new', 'cur', 'tmp'].map((name) => isFolder(join(path, name))));
  return parts.every(Boolean) ? 'maildir' : 'drop';
}

export async function isFolder(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isDirectory() === true;
}

/** Names of files that programs are still writing, by habit; and hidden files. */
const UNFINISHED = /^\.|\.(?:tmp|part|partial|crdownload|filepart)$|~$/i;

export const isUnfinished = (name: string): boolean => UNFINISHED.test(name);
