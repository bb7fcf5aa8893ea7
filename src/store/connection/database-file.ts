import {
  accessSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  type Stats,
  statfsSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { describeSystemError } from '../../domain/system-error.ts';

/* The file of a database: making it, who may read it, and what to tell a person when it cannot be used. */

/** Only the user that makes the database reads it: it holds reports, addresses and hashes of passwords. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const OTHERS = 0o077;
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

/**
 * Makes a folder and those above it. Not with `recursive`: under `/proc`, where nothing can be made, node then
 * tries again without end.
 */
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

/** The mode of a database that other users of the machine can read or write; undefined when they cannot. */
export function findLooseMode(path: string): string | undefined {
  if (process.platform === 'win32') return undefined;
  const stats = statSync(path, { throwIfNoEntry: false });
  const folder = statSync(dirname(path), { throwIfNoEntry: false });
  if (stats === undefined || folder === undefined) return undefined;
  const isLoose = (stats.mode & OTHERS) !== 0 && (folder.mode & OTHERS_ENTER) !== 0;
  return isLoose ? toText(stats) : undefined;
}

function toText({ mode }: Stats): string {
  return (mode & 0o777).toString(8).padStart(4, '0');
}

/** Each problem of a database file that a person can solve, by the beginning of SQLite's code. */
const PROBLEMS: readonly (readonly [code: string, problem: string])[] = [
  [
    'SQLITE_NOTADB',
    'is not a database, or is damaged. Set PLUMBLINE_DATABASE to the path of yours.',
  ],
  ['SQLITE_CORRUPT', 'is damaged. Restore a backup.'],
  ['SQLITE_FULL', 'cannot grow: the disk is full. Make room and try again.'],
  ['SQLITE_BUSY', 'is in use by another process. Try again in a moment.'],
  ['SQLITE_IOERR', 'cannot be read or written: the disk reports an error.'],
];

/** The error that says why a database could not be opened. Any other error is returned as it is. */
export function toOpenError(path: string, error: unknown): unknown {
  const isSystem = error instanceof Error && 'syscall' in error;
  return isSystem ? toInaccessible(path, describeSystemError(error)) : toDatabaseError(path, error);
}

/**
 * The error that says which database cannot be used, why, and what to do about it. An error that is not
 * SQLite's is returned as it is.
 */
export function toDatabaseError(path: string, error: unknown): unknown {
  const code = codeOf(error);
  const [, problem] = PROBLEMS.find(([start]) => code.startsWith(start)) ?? [];
  // Without space for its shared memory, SQLite says that reading failed.
  if (code.startsWith('SQLITE_IOERR') && isDiskFull(path))
    return toDatabaseError(path, { code: 'SQLITE_FULL' });
  if (problem !== undefined) return new Failure('unavailable', `The database ${path} ${problem}`);
  return /^SQLITE_(?:CANTOPEN|READONLY|PERM|AUTH)/.test(code) ? toAccessError(path) : error;
}

function isDiskFull(path: string): boolean {
  try {
    return statfsSync(dirname(path)).bavail === 0;
  } catch {
    return false;
  }
}

/** SQLite does not say what it may not do, so the same is tried again. */
function toAccessError(path: string): Failure {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    // Beside the database SQLite makes a write-ahead log.
    accessSync(dirname(path), constants.W_OK | constants.X_OK);
    return toInaccessible(path, 'SQLite cannot open it');
  } catch (error) {
    return toInaccessible(path, describeSystemError(error));
  }
}

function toInaccessible(path: string, why: string): Failure {
  return new Failure(
    'unavailable',
    `The database ${path} cannot be opened: ${why}. Plumbline writes the file and its folder: ` +
      'run it as the user that owns them, or set PLUMBLINE_DATABASE to another path.',
  );
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException)?.code);
}
