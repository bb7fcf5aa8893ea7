import { link, mkdir, open, rename, unlink } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type { MailResult } from '../../../domain/incoming.ts';
import { toPathText, toSystemPath } from './byte-path.ts';
import { Changed, findFile, isFolder, type WatchedFile } from './watched-file.ts';

const MAX_NAMES = 10_000;
/** An empty file of this age was left by a process that was killed while it moved a file. */
const LEFTOVER_MS = 60_000;

/** A folder for any files, or a Maildir. */
export type FolderKind = 'drop' | 'maildir';

export type Moves = ReturnType<typeof createMoves>;

/**
 * Moves files whose results are known, and never onto another file. Files of a drop folder go to its folders `Processed`
 * and `Rejected`. Mails of a Maildir with a report go from `new` to `cur`, and all others stay as they are: they are
 * other people's. It is for one group of files: where they go is made and looked at once. A move returns whether the file
 * was moved, and throws Changed, or the error of the system.
 */
export function createMoves(kind: FolderKind) {
  const made = new Map<string, Promise<void>>();
  return {
    move: async (file: WatchedFile, result: MailResult): Promise<boolean> => {
      const target = toTarget(kind, file, result);
      if (target === undefined) return false;
      if ((await findFile(file.path))?.key !== file.key) throw new Changed();
      const folder = dirname(target);
      made.set(folder, made.get(folder) ?? makeFolder(folder));
      await made.get(folder);
      await undoIfOther(file, await moveToFree(file.path, target));
      return true;
    },
    /** To be called after the last move. */
    end: async () => {
      for (const folder of made.keys()) await deleteEmpty(folder);
    },
  };
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
  await deleteEmpty(folder);
  await makeEmpty(toEmptyPath(folder));
}

/**
 * Names in the folder are taken by hard links to it, which each move then replaces: with an empty file for each, ext4 looks
 * through all that were deleted in the last minutes when it makes the next.
 */
const toEmptyPath = (folder: string): string => join(folder, '.plumbline');

const deleteEmpty = (folder: string): Promise<void> =>
  unlink(toSystemPath(toEmptyPath(folder))).catch(() => undefined);

/** Returns where the file is now. */
async function moveToFree(path: string, target: string): Promise<string> {
  const free = await takeFree(target);
  try {
    await rename(toSystemPath(path), toSystemPath(free));
    return free;
  } catch (error) {
    await unlink(toSystemPath(free));
    throw (error as NodeJS.ErrnoException).code === 'ENOENT' ? new Changed() : error;
  }
}

/**
 * An empty file takes the name, because another process may want the same one. A hard link of the file itself would do as
 * well, but not of another user's (`fs.protected_hardlinks`). Throws Changed when empty files have the name already:
 * other processes move files to it, or were killed while they did.
 */
async function takeFree(path: string): Promise<string> {
  const extension = extname(path);
  const stem = path.slice(0, path.length - extension.length);
  const empty: WatchedFile[] = [];
  for (let n = 1; n <= MAX_NAMES; n += 1) {
    const candidate = n === 1 ? path : `${stem} (${n})${extension}`;
    if (await take(candidate)) {
      if (empty.length > 0) await giveBack(candidate, empty);
      return candidate;
    }
    const other = await findFile(candidate);
    if (other?.size === 0) empty.push(other);
  }
  const [folder, name] = [dirname(path), basename(path)].map(toPathText);
  throw new Error(`${folder} has too many files with the name ${name}`);
}

/** Whether there was nothing at the path. */
async function take(path: string): Promise<boolean> {
  try {
    await link(toSystemPath(toEmptyPath(dirname(path))), toSystemPath(path));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    // Another process has just deleted the empty file, or the file system has no links.
    return await makeEmpty(path);
  }
}

/** Whether there was nothing at the path. */
async function makeEmpty(path: string): Promise<boolean> {
  try {
    await (await open(toSystemPath(path), 'wx')).close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * The empty files go when all are old by the clock of the file system, which both have; the first one last, so that
 * the others are still found after a process is killed here.
 */
async function giveBack(claimed: string, empty: readonly WatchedFile[]): Promise<never> {
  const now = await findFile(claimed);
  await unlink(toSystemPath(claimed));
  if (empty.every(({ mtimeMs }) => now !== undefined && now.mtimeMs - mtimeMs >= LEFTOVER_MS))
    for (const { path } of empty.toReversed()) await unlink(toSystemPath(path));
  throw new Changed();
}

/** Another file can have taken the name in the last moment: it was not read, and goes back. */
async function undoIfOther(file: WatchedFile, moved: string): Promise<void> {
  const now = await findFile(moved);
  // Moving changes only the time of the inode.
  if (now?.size === file.size && now.mtimeMs === file.mtimeMs) return;
  await moveToFree(moved, file.path);
  throw new Changed();
}
