import { closeSync, mkdirSync, openSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Failure } from '../../../domain/failure.ts';

/** Only the user that makes the database reads it: it holds reports, addresses and hashes of passwords. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const OTHERS = 0o077;
/** The same, except that the group may read. */
const OUTSIDE_GROUP = 0o037;
/** Permission to reach what is in a folder, for the group and for all others. */
const OTHERS_ENTER = 0o011;

/** Makes an empty file, which is an empty database, and the folders to it, unless it is there. */
export function createDatabaseFile(path: string): void {
  if (isThere(path)) return;
  createFolder(dirname(path));
  try {
    closeSync(openSync(path, 'wx', FILE_MODE));
  } catch (error) {
    // Another process has made it meanwhile.
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

/** Throws `not_found` when there is no file. */
export function requireDatabaseFile(path: string): void {
  if (isThere(path)) return;
  throw new Failure(
    'not_found',
    `There is no database at ${path}. Set PLUMBLINE_DATABASE to the path of yours. ` +
      '“account create”, “ingest” and “serve” make a new one.',
  );
}

/** Whether there is a file. SQLite must not be given a folder, a device or a pipe. */
function isThere(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return false;
  if (stats.isFile()) return true;
  const what = stats.isDirectory() ? 'a folder: name a file in it' : 'not a file';
  throw new Failure('conflict', `The database ${path} is ${what} (PLUMBLINE_DATABASE).`);
}

/** Not with `recursive`: under `/proc`, where nothing can be made, node then tries again without end. */
function createFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false }) !== undefined) return;
  const parent = dirname(folder);
  if (parent !== folder) createFolder(parent);
  try {
    mkdirSync(folder, { mode: FOLDER_MODE });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

/** The mode of a file that other users (the group too, unless `mayGroupRead`) can read or write; else undefined. */
export function findLooseMode(path: string, mayGroupRead = false): string | undefined {
  if (process.platform === 'win32') return undefined;
  const stats = statSync(path, { throwIfNoEntry: false });
  const folder = statSync(dirname(path), { throwIfNoEntry: false });
  if (stats === undefined || folder === undefined) return undefined;
  const isLoose =
    (stats.mode & (mayGroupRead ? OUTSIDE_GROUP : OTHERS)) !== 0 &&
    (folder.mode & OTHERS_ENTER) !== 0;
  return isLoose ? toText(stats) : undefined;
}

function toText({ mode }: Stats): string {
  return (mode & 0o777).toString(8).padStart(4, '0');
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException)?.code);
}
