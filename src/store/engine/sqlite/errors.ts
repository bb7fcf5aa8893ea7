import { accessSync, constants, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { Failure } from '../../../domain/failure.ts';
import { describeSystemError } from '../../../domain/system-error.ts';

/* What to tell a person when a database cannot be used: which one, why, and what to do about it. */

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

export function isDamage(error: unknown): boolean {
  return /^SQLITE_(?:NOTADB|CORRUPT)/.test(String((error as NodeJS.ErrnoException)?.code));
}

/** Says why a database could not be opened. Any other error is returned as it is. */
export function toOpenError(path: string, error: unknown): unknown {
  const isSystem = error instanceof Error && 'syscall' in error;
  return isSystem ? toInaccessible(path, describeSystemError(error)) : toSqliteError(path, error);
}

/** Says which database cannot be used, why, and what to do. An error that is not SQLite's is returned as it is. */
export function toSqliteError(path: string, error: unknown): unknown {
  const code = String((error as NodeJS.ErrnoException)?.code);
  const [, problem] = PROBLEMS.find(([start]) => code.startsWith(start)) ?? [];
  // SQLite says that reading failed when it has no space for its shared memory.
  if (code.startsWith('SQLITE_IOERR') && isDiskFull(path))
    return toSqliteError(path, { code: 'SQLITE_FULL' });
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

/** SQLite does not say which access is missing, so each is tried. */
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
