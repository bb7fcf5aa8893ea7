import { mkdir, rename } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type { MailResult } from '../../../domain/incoming.ts';
import {
  Changed,
  findFile,
  findStats,
  isFolder,
  throwChanged,
  toPathText,
  toSystemPath,
  type WatchedFile,
} from './watched-file.ts';

const MAX_NAMES = 10_000;

/** A folder for any files, or a Maildir. */
export type FolderKind = 'drop' | 'maildir';

/**
 * Moves a file whose result is known to a free name. Files of a drop folder go to its folders `Processed` and `Rejected`.
 * Mails of a Maildir with a report go from `new` to `cur`, and all others stay as they are: they are other people's. Returns
 * whether the file was moved. Throws Changed, or the error of the system.
 */
export async function moveFile(
  file: WatchedFile,
  kind: FolderKind,
  result: MailResult,
): Promise<boolean> {
  const target = toTarget(kind, file, result);
  if (target === undefined) return false;
  if ((await findFile(file.path))?.key !== file.key) throw new Changed();
  await makeFolder(dirname(target));
  const moved = await moveToFree(file.path, target);
  // Another file can have taken the name in the last moment: it was not read, and goes back.
  const now = await findFile(moved);
  // Moving changes only the time of the inode.
  if (now?.size === file.size && now.mtimeMs === file.mtimeMs) return true;
  await moveToFree(moved, file.path);
  throw new Changed();
}

function toTarget(kind: FolderKind, { path }: WatchedFile, result: MailResult): string | undefined {
  const [folder, name] = [dirname(path), basename(path)];
  if (kind === 'drop') return join(folder, result === 'processed' ? 'Processed' : 'Rejected', name);
  if (result === 'ignored') return undefined;
  // `2,` and the flag `S`: seen.
  return join(dirname(folder), 'cur', name.includes(':2,') ? name : `${name}:2,S`);
}

/** A link in place of the folder could lead anywhere. */
async function makeFolder(folder: string): Promise<void> {
  await mkdir(toSystemPath(folder)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  if (!(await isFolder(folder))) throw new Error(`${toPathText(folder)} is not a folder`);
}

/**
 * Returns where the file is now. Another process can take the free name in between, and one of the two files is lost: both
 * were read, and the database has their bytes.
 */
async function moveToFree(path: string, target: string): Promise<string> {
  const free = await findFree(target);
  await rename(toSystemPath(path), toSystemPath(free)).catch(throwChanged);
  return free;
}

async function findFree(path: string): Promise<string> {
  const extension = extname(path);
  const stem = path.slice(0, path.length - extension.length);
  for (let n = 1; n <= MAX_NAMES; n += 1) {
    const candidate = n === 1 ? path : `${stem} (${n})${extension}`;
    if ((await findStats(candidate)) === undefined) return candidate;
  }
  const [folder, name] = [dirname(path), basename(path)].map(toPathText);
  throw new Error(`${folder} has too many files with the name ${name}`);
}
