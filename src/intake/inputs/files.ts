import { closeSync, fstatSync, lstatSync, openSync, readSync, type Stats } from 'node:fs';
import { lstat, opendir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Refusal } from '../../domain/reports/refusal.ts';
import { toSizeText } from '../../domain/size.ts';
import { describeSystemError } from '../../domain/system-error.ts';
import { collect } from '../content.ts';
import type { Input } from '../ingest.ts';
import { MAX_FOLDER_DEPTH, MAX_INPUT_BYTES } from '../limits.ts';
import { isPseudo, isPseudoFolder, OPEN_FLAGS } from './pseudo-file-system.ts';

/**
 * The files at some paths; those of a folder sorted by name, so that runs are repeatable. In a folder only regular
 * files count: hidden files, symbolic links, devices, pipes and sockets are left out. A given link is replaced by the
 * file that it leads to. A path that cannot be listed is returned itself, and reading it gives the error.
 */
export async function* listFiles(paths: readonly string[]): AsyncGenerator<string> {
  for (const path of paths) {
    const stats = await lstat(path).catch(() => undefined);
    if (stats?.isDirectory()) yield* listFolder(path, MAX_FOLDER_DEPTH);
    else yield stats?.isSymbolicLink() ? await toTarget(path) : path;
  }
}

/** The file that a link leads to; the link itself when it does not lead to a file. */
async function toTarget(link: string): Promise<string> {
  try {
    const target = await realpath(link);
    return (await stat(target)).isFile() ? target : link;
  } catch {
    return link;
  }
}

async function* listFolder(folder: string, depth: number): AsyncGenerator<string> {
  const entries = depth > 0 ? await listEntries(folder) : undefined;
  if (entries === undefined) return yield folder;
  for (const name of entries.names) {
    const path = join(folder, name);
    if (entries.folders.has(name)) yield* listFolder(path, depth - 1);
    else yield path;
  }
}

/** Names only, because a folder may have a million of them. undefined when the folder cannot be read. */
async function listEntries(folder: string) {
  const names: string[] = [];
  const folders = new Set<string>();
  try {
    if (await isPseudoFolder(folder)) return undefined;
    for await (const entry of await opendir(folder, { bufferSize: 256 })) {
      const isFolder = entry.isDirectory();
      if (entry.name.startsWith('.') || !(isFolder || entry.isFile())) continue;
      names.push(entry.name);
      if (isFolder) folders.add(entry.name);
    }
  } catch {
    return undefined;
  }
  return { names: names.sort(), folders };
}

/**
 * One regular file, with the length it had when it was opened. Throws a Refusal, `unreadable` or `too_large`. Read in
 * one call: a stream's use of the thread pool costs more than parsing a usual report.
 */
export async function readFile(path: string): Promise<Input> {
  try {
    // Opening a device may have effects of its own, so a known device is not opened.
    requireFile(lstatSync(path));
    return { name: path, bytes: readRegular(path) };
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw unreadable(isMisnamed(path, error) ? 'its name is not valid UTF-8' : error);
  }
}

function readRegular(path: string): Buffer {
  const file = openSync(path, OPEN_FLAGS);
  try {
    const stats = fstatSync(file);
    requireFile(stats);
    if (isPseudo(file, stats))
      throw unreadable('it is in a file system of the kernel, which has no real files');
    if (stats.size > MAX_INPUT_BYTES)
      throw new Refusal('too_large', `The file is larger than ${toSizeText(MAX_INPUT_BYTES)}.`);
    return readBytes(file, stats.size);
  } finally {
    closeSync(file);
  }
}

/** The bytes of a file: fewer when it has become shorter, not more when it has grown. */
function readBytes(file: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(size);
  let length = 0;
  while (length < size) {
    const read = readSync(file, bytes, length, size - length, null);
    if (read === 0) break;
    length += read;
  }
  return bytes.subarray(0, length);
}

function requireFile(stats: Stats): void {
  if (stats.isFile()) return;
  if (stats.isSymbolicLink())
    throw unreadable('it is a symbolic link that does not lead to a file');
  if (stats.isDirectory()) throw unreadable('it is a folder that cannot be listed');
  throw unreadable('it is a device, a pipe or a socket');
}

/** Standard input, or any other stream, to its end. Throws a Refusal as `readFile` does. */
export async function readInput(name: string, stream: AsyncIterable<Uint8Array>): Promise<Input> {
  try {
    return { name, bytes: await collect(stream, MAX_INPUT_BYTES) };
  } catch (error) {
    throw error instanceof Refusal ? error : unreadable(error);
  }
}

/** Node replaces bytes of names that are not UTF-8 by U+FFFD. No file then has that name. */
const isMisnamed = (path: string, error: unknown): boolean =>
  path.includes('\uFFFD') && (error as NodeJS.ErrnoException).code === 'ENOENT';

function unreadable(why: unknown): Refusal {
  const reason = typeof why === 'string' ? why : describeSystemError(why);
  return new Refusal('unreadable', `It cannot be read: ${reason}.`);
}
