import { createReadStream, readFileSync, statSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Refusal } from '../domain/refusal.ts';
import { MAX_FOLDER_DEPTH, MAX_SOURCE_BYTES } from './ceilings.ts';
import { collect } from './content.ts';
import type { Source } from './documents.ts';

/**
 * The files that some paths stand for, one by one: a file as it is, a folder with all that is in
 * it, sorted by name so that runs repeat. Hidden files and links to folders are left out. A folder
 * that cannot be looked into is given out itself, and reading it says why.
 */
export async function* listFiles(paths: readonly string[]): AsyncGenerator<string> {
  for (const path of paths) {
    if ((await kindOf(path)) === 'folder') yield* listFolder(path, MAX_FOLDER_DEPTH);
    else yield path;
  }
}

/**
 * One file in memory. Throws a Refusal, `unreadable` or `too_large`. A file on disk is read in one call:
 * a stream's hops to the thread pool cost more than a usual report takes to parse.
 */
export async function readFile(path: string): Promise<Source> {
  const stats = statSync(path, { throwIfNoEntry: false });
  // A pipe or a device says nothing of its size.
  if (!stats?.isFile()) return await readSource(path, createReadStream(path));
  if (stats.size > MAX_SOURCE_BYTES) throw tooLarge();
  try {
    return { name: path, bytes: readFileSync(path) };
  } catch (error) {
    throw unreadable(error);
  }
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

const tooLarge = (): Refusal =>
  new Refusal('too_large', `The file is larger than ${MAX_SOURCE_BYTES} bytes.`);

const unreadable = (error: unknown): Refusal =>
  new Refusal('unreadable', `It cannot be read: ${(error as Error).message}.`);

async function* listFolder(folder: string, depth: number): AsyncGenerator<string> {
  const entries = depth > 0 ? await listEntries(folder) : undefined;
  if (entries === undefined) yield folder;
  for (const entry of entries ?? []) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* listFolder(path, depth - 1);
    else if (entry.isFile() || (entry.isSymbolicLink() && (await kindOf(path)) === 'file'))
      yield path;
  }
}

async function listEntries(folder: string) {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
  return entries
    ?.filter(({ name }) => !name.startsWith('.'))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

async function kindOf(path: string): Promise<'file' | 'folder' | 'other' | 'missing'> {
  const stats = await stat(path).catch(() => undefined);
  if (stats === undefined) return 'missing';
  if (stats.isDirectory()) return 'folder';
  return stats.isFile() ? 'file' : 'other';
}
