import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { isPseudo } from '../../inputs/pseudo-file-system.ts';

/** A file is taken when it has not changed for so long. */
const SETTLED_MS = 2_000;
const CHUNK_BYTES = 1024 * 1024;
/** If a pipe or link replaces the file meanwhile, opening must not wait for the pipe or follow the link. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/** A regular file, and the state in which it was found. */
export interface WatchedFile {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}

/** The file changed, or went away, while it was read. It is found again in its new state. */
export class Changed extends Error {}

/** undefined when there is no regular file at the path: links are never followed. */
export async function findFile(path: string): Promise<WatchedFile | undefined> {
  const stats = await lstat(path).catch(() => undefined);
  return stats?.isFile() ? toWatched(path, stats) : undefined;
}

export async function isFolder(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isDirectory() === true;
}

function toWatched(path: string, { size, mtimeMs, ctimeMs }: Stats): WatchedFile {
  return { path, size, mtimeMs, ctimeMs };
}

/** The inbox knows a state of a file by this. Unpacked archives can repeat name, size and mtime, but not ctime. */
export function toKey({ path, size, mtimeMs, ctimeMs }: WatchedFile): string {
  return `file ${size} ${mtimeMs} ${ctimeMs} ${path}`;
}

/** Whether nothing has written to the file, or moved it, for some time, by the clock of its file system. */
export function isSettled({ mtimeMs, ctimeMs }: WatchedFile, nowMs: number): boolean {
  return nowMs - Math.max(mtimeMs, ctimeMs) >= SETTLED_MS;
}

const MAX_SEEN = 10_000;

/** By the clock of the file system. When it is ahead of ours, the file has to be in the same state after the time. */
export class Settling {
  readonly #seen = new Map<string, { readonly key: string; readonly at: number }>();

  isOver(file: WatchedFile): boolean {
    const key = toKey(file);
    const seen = this.#seen.get(file.path);
    const isSame = seen?.key === key && performance.now() - seen.at >= SETTLED_MS;
    if (isSettled(file, Date.now()) || isSame) {
      this.#seen.delete(file.path);
      return true;
    }
    if (this.#seen.size >= MAX_SEEN) this.#seen.clear();
    if (seen?.key !== key) this.#seen.set(file.path, { key, at: performance.now() });
    return false;
  }
}

/** The bytes of a file in the state in which it was found. Throws Changed, or the error of the system. */
export async function* readFileBytes(file: WatchedFile): AsyncGenerator<Uint8Array> {
  const handle = await openAs(file);
  try {
    yield* readRange(handle, 0, file.size);
    await requireSame(handle, file);
  } finally {
    await handle.close();
  }
}

/** Throws Changed when the file is not as it was found. */
export async function openAs(file: WatchedFile): Promise<FileHandle> {
  const handle = await open(file.path, OPEN_FLAGS).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' || error.code === 'ELOOP' ? new Changed() : error;
  });
  try {
    await requireSame(handle, file);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function requireSame(handle: FileHandle, file: WatchedFile): Promise<void> {
  const stats = await handle.stat();
  const isReal = stats.isFile() && !isPseudo(handle.fd, stats);
  if (!isReal || toKey(toWatched(file.path, stats)) !== toKey(file)) throw new Changed();
}

/** The bytes from one offset to another, in chunks. Throws Changed when the file has become shorter. */
export async function* readRange(
  handle: FileHandle,
  from: number,
  to: number,
): AsyncGenerator<Uint8Array> {
  for (let at = from; at < to; ) {
    const chunk = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, to - at));
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, at);
    if (bytesRead === 0) throw new Changed();
    at += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}
