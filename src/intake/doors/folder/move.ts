import { mkdir } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type { MailResult } from '../../../domain/incoming.ts';
import { toPathText, toSystemPath } from './byte-path.ts';
import type { Files } from './files.ts';
import { Changed, findFile, isFolder, type WatchedFile } from './watched-file.ts';

const MAX_NAMES = 10_000;
/** An empty file of this age was left by a process that was killed while it moved a file. */
const LEFTOVER_MS = 60_000;

/** A folder for any files, or a Maildir. */
export type FolderKind = 'drop' | 'maildir';

export interface Moves {
  /** Returns whether the file was moved. Throws Changed, or the error of the system. */
  readonly move: (file: WatchedFile, result: MailResult) => Promise<boolean>;
  /** To be called after the last move. */
  readonly end: () => Promise<void>;
}

/**
 * Moves files whose results are known, and never onto another file. Files of a drop folder go to its folders
 * `Processed` and `Rejected`. Mails of a Maildir with a report go from `new` to `cur`, and all others stay as they
 * are: they are other people's. It is for one group of files: where they go is made and looked at once.
 */
export function createMoves(files: Files, kind: FolderKind): Moves {
  const made = new Map<string, Promise<void>>();
  return {
    move: async (file, result) => {
      const target = toTarget(kind, file, result);
      if (target === undefined) return false;
      const now = await findFile(files, file.path);
      if (now === undefined || now.key !== file.key) throw new Changed();
      const folder = dirname(target);
      made.set(folder, made.get(folder) ?? makeFolder(files, folder));
      await made.get(folder);
      await undoIfOther(files, file, await moveToFree(files, file.path, target));
      return true;
    },
    end: async () => {
      for (const folder of made.keys()) await deleteEmpty(files, folder);
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
async function makeFolder(files: Files, folder: string): Promise<void> {
  await mkdir(toSystemPath(folder)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  if (!(await isFolder(files, folder))) throw new Error(`${toPathText(folder)} is not a folder`);
  await deleteEmpty(files, folder);
  await makeEmpty(files, toEmptyPath(folder));
}

/**
 * Names in the folder are taken by hard links to it, which each move then replaces: with an empty file for each, ext4 looks
 * through all that were deleted in the last minutes when it makes the next.
 */
const toEmptyPath = (folder: string): string => join(folder, '.plumbline');

const deleteEmpty = (files: Files, folder: string): Promise<void> =>
  files.unlink(toSystemPath(toEmptyPath(folder))).catch(() => undefined);

/** Returns where the file is now. */
async function moveToFree(files: Files, path: string, target: string): Promise<string> {
  const free = await takeFree(files, target);
  try {
    await files.rename(toSystemPath(path), toSystemPath(free));
    return free;
  } catch (error) {
    await files.unlink(toSystemPath(free));
    throw (error as NodeJS.ErrnoException).code === 'ENOENT' ? new Changed() : error;
  }
}

/**
 * An empty file takes the name, because another process may want the same one. A hard link of the file itself would do as
 * well, but not of another user's (`fs.protected_hardlinks`). Throws Changed when empty files have the name already:
 * other processes move files to it, or were killed while they did.
 */
async function takeFree(files: Files, path: string): Promise<string> {
  const extension = extname(path);
  const stem = path.slice(0, path.length - extension.length);
  const empty: WatchedFile[] = [];
  for (let n = 1; n <= MAX_NAMES; n += 1) {
    const candidate = n === 1 ? path : `${stem} (${n})${extension}`;
    if (await take(files, candidate)) {
      if (empty.length > 0) await giveBack(files, candidate, empty);
      return candidate;
    }
    const other = await findFile(files, candidate);
    if (other?.size === 0) empty.push(other);
  }
  const [folder, name] = [dirname(path), basename(path)].map(toPathText);
  throw new Error(`${folder} has too many files with the name ${name}`);
}

/** Whether there was nothing at the path. */
async function take(files: Files, path: string): Promise<boolean> {
  try {
    await files.link(toSystemPath(toEmptyPath(dirname(path))), toSystemPath(path));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    // Another process has just deleted the empty file, or the file system has no links.
    return await makeEmpty(files, path);
  }
}

/** Whether there was nothing at the path. */
async function makeEmpty(files: Files, path: string): Promise<boolean> {
  try {
    await (await files.open(toSystemPath(path), 'wx')).close();
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
async function giveBack(
  files: Files,
  claimed: string,
  empty: readonly WatchedFile[],
): Promise<never> {
  const now = await findFile(files, claimed);
  await files.unlink(toSystemPath(claimed));
  if (empty.every(({ mtimeMs }) => now !== undefined && now.mtimeMs - mtimeMs >= LEFTOVER_MS))
    for (const { path } of empty.toReversed()) await files.unlink(toSystemPath(path));
  throw new Changed();
}

/** Another file can have taken the name in the last moment: it was not read, and goes back. */
async function undoIfOther(files: Files, file: WatchedFile, moved: string): Promise<void> {
  const now = await findFile(files, moved);
  // Moving changes only the time of the inode.
  if (now?.size === file.size && now.mtimeMs === file.mtimeMs) return;
  await moveToFree(files, moved, file.path);
  throw new Changed();
}
