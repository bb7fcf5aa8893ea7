import { mkdir } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type { MailResult } from '../../../domain/incoming.ts';
import { toPathText, toSystemPath } from './byte-path.ts';
import type { Files } from './files.ts';
import { Changed, findFile, isFolder, type WatchedFile } from './watched-file.ts';

const MAX_NAMES = 10_000;
/** An empty file of this age was left by a process that was killed while it moved a file. */
const LEFTOVER_MS = 10_000;

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
  const targets = new Map<string, TargetFolder>();
  return {
    move: async (file, result) => {
      const target = toTarget(kind, file, result);
      if (target === undefined) return false;
      const now = await findFile(files, file.path);
      if (now === undefined || now.key !== file.key) throw new Changed();
      const path = dirname(target);
      const folder = targets.get(path) ?? new TargetFolder(files, path);
      targets.set(path, folder);
      await folder.isMade;
      const take = (name: string) => folder.take(name);
      await undoIfOther(files, file, await moveToFree(files, { path: file.path, target, take }));
      return true;
    },
    end: async () => {
      for (const folder of targets.values()) await folder.end();
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

/** The empty file is younger than that. */
const RENEW_MS = 1_000;

/**
 * Where files are moved to. Its names are taken by hard links to one empty file, which each move then replaces: with an
 * empty file for each, ext4 looks through all that were deleted in the last minutes when it makes the next.
 */
class TargetFolder {
  readonly isMade: Promise<void>;
  readonly #files: Files;
  readonly #empty: Buffer;
  #renewed: Promise<unknown> = Promise.resolve();
  #renewAtMs = 0;

  constructor(files: Files, path: string) {
    this.#files = files;
    this.isMade = makeFolder(files, path);
    this.#empty = toSystemPath(join(path, '.plumbline'));
  }

  /** Whether there was nothing at the path. */
  async take(path: string): Promise<boolean> {
    if (performance.now() >= this.#renewAtMs) {
      this.#renewAtMs = performance.now() + RENEW_MS;
      this.#renewed = this.end().then(() => makeEmpty(this.#files, this.#empty));
    }
    try {
      await this.#renewed;
      await this.#files.link(this.#empty, toSystemPath(path));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      // Another process has just deleted the empty file, or the file system has no links.
      return await makeEmpty(this.#files, toSystemPath(path));
    }
  }

  async end(): Promise<void> {
    await this.#files.unlink(this.#empty).catch(() => undefined);
  }
}

/** A link in place of the folder could lead anywhere. */
async function makeFolder(files: Files, folder: string): Promise<void> {
  await mkdir(toSystemPath(folder)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  if (!(await isFolder(files, folder))) throw new Error(`${toPathText(folder)} is not a folder`);
}

/** Returns whether the name was free. */
type TakeName = (path: string) => Promise<boolean>;

/** Returns where the file is now. */
async function moveToFree(
  files: Files,
  { path, target, take }: { path: string; target: string; take: TakeName },
): Promise<string> {
  const free = await takeFree(files, target, take);
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
async function takeFree(files: Files, path: string, take: TakeName): Promise<string> {
  const extension = extname(path);
  const stem = path.slice(0, path.length - extension.length);
  const empty: WatchedFile[] = [];
  for (let n = 1; n <= MAX_NAMES; n += 1) {
    const candidate = n === 1 ? path : `${stem} (${n})${extension}`;
    if (await take(candidate)) {
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
async function makeEmpty(files: Files, path: Buffer): Promise<boolean> {
  try {
    await (await files.open(path, 'wx')).close();
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
  const take = (path: string) => makeEmpty(files, toSystemPath(path));
  await moveToFree(files, { path: moved, target: file.path, take });
  throw new Changed();
}
