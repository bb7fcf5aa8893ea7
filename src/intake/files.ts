import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  type Stats,
} from 'node:fs';
import { lstat, opendir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Refusal } from '../domain/refusal.ts';
import { MAX_FOLDER_DEPTH, MAX_SOURCE_BYTES } from './ceilings.ts';
import { collect } from './content.ts';
import type { Source } from './documents.ts';
import { isPseudo, isPseudoFolder } from './pseudo-file-system.ts';

/**
 * The files that some paths stand for, one by one: a file as it is, a folder with all that is in it, sorted by
 * name so that runs repeat. In a folder only regular files count: hidden files, symbolic links, devices, pipes
 * and sockets are left out. A link that was given itself is given out as the file that it leads to. What
 * cannot be listed is given out itself, and reading it says why.
 */
export async function* listFiles(paths: readonly string[]): AsyncGenerator<string> {
  for (const path of paths) {
    const stats = await lstat(path).catch(() => undefined);
    if (stats?.isDirectory()) yield* listFolder(path, MAX_FOLDER_DEPTH);
    else yield stats?.isSymbolicLink() ? await toTarget(path) : path;
  }
}

/** The file that a link leads to; the link itself when that is no file. */
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
  if (entries === undefined) yield folder;
  for (const name of entries?.names ?? []) {
    const path = join(folder, name);
    if (entries?.folders.has(name)) yield* listFolder(path, depth - 1);
    else yield path;
  }
}

interface Entries {
  readonly names: readonly string[];
  readonly folders: ReadonlySet<string>;
}

/** Names only, because a folder may have a million of them. undefined when the folder cannot be read. */
async function listEntries(folder: string): Promise<Entries | undefined> {
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
 * One regular file in memory, as long as it was when it was opened. Throws a Refusal, `unreadable` or
 * `too_large`. A file is read in one call: a stream's hops to the thread pool cost more than a usual report
 * takes to parse.
 */
export async function readFile(path: string): Promise<Source> {
  try {
    // Opening a device may already do something, so what plainly is one is not opened.
    requireFile(lstatSync(path));
    return { name: path, bytes: readRegular(path) };
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw isMisnamed(path, error) ? notUtf8() : unreadable(error);
  }
}

/** A pipe that has taken the file's place meanwhile must not be waited for, nor a link followed. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

function readRegular(path: string): Buffer {
  const file = openSync(path, OPEN_FLAGS);
  try {
    const stats = fstatSync(file);
    requireFile(stats);
    if (isPseudo(file, stats)) throw unreadable('it lies in a file system that holds no files');
    if (stats.size > MAX_SOURCE_BYTES) throw tooLarge();
    return readBytes(file, stats.size);
  } finally {
    closeSync(file);
  }
}

/** The bytes of a file, fewer when it has become shorter and no more when it has grown. */
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
  if (stats.isSymbolicLink()) throw unreadable('it is a symbolic link that leads to no file');
  if (stats.isDirectory()) throw unreadable('it is a folder that cannot be listed');
  throw unreadable('it is a device, a pipe or a socket');
}

/** Standard input, or any other stream, to its end. Throws a Refusal as `readFile` does. */
export async function readSource(name: string, stream: AsyncIterable<Uint8Array>): Promise<Source> {
  try {
    return { name, bytes: await collect(stream, MAX_SOURCE_BYTES) };
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw unreadable(error);
  }
}

/** Node gives names that are not UTF-8 with U+FFFD in them, and no file has the name that is then asked for. */
const isMisnamed = (path: string, error: unknown): boolean =>
  path.includes('\uFFFD') && (error as NodeJS.ErrnoException).code === 'ENOENT';

const notUtf8 = (): Refusal => unreadable('its name is not valid UTF-8');

const tooLarge = (): Refusal =>
  new Refusal('too_large', `The file is larger than ${MAX_SOURCE_BYTES} bytes.`);

const unreadable = (why: unknown): Refusal =>
  new Refusal('unreadable', `It cannot be read: ${why instanceof Error ? why.message : why}.`);
