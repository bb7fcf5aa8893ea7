import { lstat, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** A place that is watched: a folder for any files, a Maildir, or a mailbox file (mbox). */
export type PlaceKind = 'drop' | 'maildir' | 'mbox';

/**
 * What is at the path now. The configured path itself may be a link. Throws the error of the system when there
 * is nothing.
 */
export async function findKind(path: string): Promise<PlaceKind> {
  if (!(await stat(path)).isDirectory()) return 'mbox';
  const parts = await Promise.all(['new', 'cur', 'tmp'].map((name) => isFolder(join(path, name))));
  return parts.every(Boolean) ? 'maildir' : 'drop';
}

export async function isFolder(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isDirectory() === true;
}

/** Names of files that programs are still writing, by habit; and hidden files. */
const UNFINISHED = /^\.|\.(?:tmp|part|partial|crdownload|filepart)$|~$/i;

export const isUnfinished = (name: string): boolean => UNFINISHED.test(name);
