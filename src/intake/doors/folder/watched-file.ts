import type { Stats } from 'node:fs';
import { isPseudo, OPEN_FLAGS } from '../../inputs/pseudo-file-system.ts';
import { toSystemPath } from './byte-path.ts';
import type { Files, OpenFile } from './files.ts';

/** A file is taken when it has not changed for so long. */
export const SETTLED_MS = 2_000;
const CHUNK_BYTES = 1024 * 1024;

/** A regular file, and the state in which it was found. */
export interface WatchedFile {
  /** A byte path. */
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  /** Unpacked archives can repeat name, size and mtime, but not ctime. */
  readonly state: string;
  /** The inbox knows the file in this state by it. */
  readonly key: string;
}

/** The file changed, or went away, while it was read. It is found again in its new state. */
export class Changed extends Error {}

/** undefined when there is nothing at the path. Links are never followed. */
export async function findStats(files: Files, path: string): Promise<Stats | undefined> {
  try {
    return await files.lstat(toSystemPath(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** undefined when there is no regular file at the path. */
export async function findFile(files: Files, path: string): Promise<WatchedFile | undefined> {
  const stats = await findStats(files, path);
  return stats?.isFile() ? toWatched(path, stats) : undefined;
}

export const isFolder = async (files: Files, path: string): Promise<boolean> =>
  (await findStats(files, path))?.isDirectory() === true;

export function toWatched(path: string, { size, mtimeMs, ctimeMs }: Stats): WatchedFile {
  const state = `${size} ${mtimeMs} ${ctimeMs}`;
  return { path, size, mtimeMs, ctimeMs, state, key: `file ${state} ${path}` };
}

/** How long nothing has written to the file, or moved it, by the clock of its file system. */
export function toAgeMs({ mtimeMs, ctimeMs }: WatchedFile): number {
  return Date.now() - Math.max(mtimeMs, ctimeMs);
}

/** The bytes of a file, whose state is looked at after the last one. Throws Changed, or the error of the system. */
export async function* readFileBytes(files: Files, file: WatchedFile): AsyncGenerator<Uint8Array> {
  const handle = await openFound(files, file);
  try {
    yield* readRange(handle, 0, file.size);
    await requireSame(handle, file);
  } finally {
    await handle.close();
  }
}

/** It may be another file than the one that was found. */
export async function openFound(files: Files, { path }: WatchedFile): Promise<OpenFile> {
  const opened = files.open(toSystemPath(path), OPEN_FLAGS);
  return await opened.catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' || error.code === 'ELOOP' ? new Changed() : error;
  });
}

/** Throws Changed when the open file is not as it was found. */
export async function requireSame(handle: OpenFile, file: WatchedFile): Promise<void> {
  const stats = await handle.stat();
  const isReal = stats.isFile() && !isPseudo(handle.fd, stats);
  if (!isReal || toWatched(file.path, stats).key !== file.key) throw new Changed();
}

/** The bytes from one offset to another, in chunks. Throws Changed when the file has become shorter. */
export async function* readRange(handle: OpenFile, from: number, to: number) {
  for (let at = from; at < to; ) {
    const chunk = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, to - at));
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, at);
    if (bytesRead === 0) throw new Changed();
    at += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}
