import type { Stats } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { OPEN_FLAGS } from '../../inputs/pseudo-file-system.ts';

/*
 * The names of files are bytes, which need not be UTF-8. A byte path has one character for each byte (Latin-1), so
 * that no name is lost, and the functions of node:path work with it.
 */

export const toBytePath = (text: string): string => Buffer.from(text).toString('latin1');

/** The bytes, as the functions of node:fs take them. */
export const toSystemPath = (path: string): Buffer => Buffer.from(path, 'latin1');

/** The text for people. Bytes that are not UTF-8 are replaced by U+FFFD. */
export const toPathText = (path: string): string => toSystemPath(path).toString();

/** A regular file, and the state in which it was found. */
export interface WatchedFile {
  /** A byte path. */
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  /** Unpacked archives can repeat name, size and mtime, but not ctime. The inbox knows the file in this state by it. */
  readonly key: string;
}

/** The file changed, or went away, while it was read or moved. It is found again in its new state. */
export class Changed extends Error {}

/** undefined when there is nothing at the path. Links are never followed. */
export async function findStats(path: string): Promise<Stats | undefined> {
  return await lstat(toSystemPath(path)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}

/** undefined when there is no regular file at the path. */
export async function findFile(path: string): Promise<WatchedFile | undefined> {
  const stats = await findStats(path);
  return stats?.isFile() ? toWatched(path, stats) : undefined;
}

export const isFolder = async (path: string): Promise<boolean> =>
  (await findStats(path))?.isDirectory() === true;

function toWatched(path: string, { size, mtimeMs, ctimeMs }: Stats): WatchedFile {
  return { path, size, mtimeMs, ctimeMs, key: `file ${size} ${mtimeMs} ${ctimeMs} ${path}` };
}

/** The bytes of a file, whose state is looked at after the last one. Throws Changed, or the error of the system. */
export async function* readFileBytes(file: WatchedFile): AsyncGenerator<Uint8Array> {
  const handle = await open(toSystemPath(file.path), OPEN_FLAGS).catch(throwChanged);
  try {
    await requireSame(handle, file);
    if (file.size > 0)
      for await (const chunk of handle.createReadStream({ end: file.size - 1, autoClose: false }))
        yield chunk;
    await requireSame(handle, file);
  } finally {
    await handle.close();
  }
}

/** Throws Changed when the file is gone, or a link has taken its place. */
export function throwChanged(error: NodeJS.ErrnoException): never {
  throw error.code === 'ENOENT' || error.code === 'ELOOP' ? new Changed() : error;
}

async function requireSame(handle: FileHandle, { path, key }: WatchedFile): Promise<void> {
  const stats = await handle.stat();
  if (!stats.isFile() || toWatched(path, stats).key !== key) throw new Changed();
}
