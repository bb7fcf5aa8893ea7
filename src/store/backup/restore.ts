import { constants, copyFileSync, existsSync, linkSync, renameSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import Database from 'better-sqlite3';
import { Failure } from '../../domain/failure.ts';
import { isDamage, toOpenError } from '../engine/sqlite/errors.ts';
import { takeAlone } from '../engine/sqlite/migrate.ts';
import { makeWholeFile } from '../engine/sqlite/whole-file.ts';
import { isCurrent, requireClosed } from './copy.ts';

interface RestoreOptions {
  /** The path of a backup. It stays as it is. */
  readonly from: string;
  readonly to: string;
  /** Whether `to` may exist. It is kept under another name. */
  readonly force?: boolean;
  readonly now: () => Date;
}

/**
 * Puts a copy of a backup, which it checks first, in the place of a database that no process has open. A write-ahead log
 * that is there leaves with the database that it belongs to: SQLite would read it into the new one. Returns where the
 * database is that was there before (`kept`).
 */
export async function restore({ from, to, force, now }: RestoreOptions) {
  const path = resolve(to);
  const backup = resolve(from);
  if (statSync(backup, { throwIfNoEntry: false })?.isFile() !== true)
    throw new Failure('not_found', `There is no file ${backup}: name a backup.`);
  requireClosed(backup);
  if (path === backup) throw new Failure('conflict', 'This is the database that is in use.');
  if (statSync(path, { throwIfNoEntry: false })?.size && !force)
    throw new Failure(
      'conflict',
      `There is a database at ${path}. With --force it is kept under another name.`,
    );
  const kept = `${path}.before-${now().toISOString().replaceAll(/[-:]/g, '')}`;
  const fill = async (part: string) => {
    copyFileSync(backup, part, constants.COPYFILE_FICLONE);
    isCurrent(part, backup, toBackupError);
  };
  const isKept = await makeWholeFile(path, fill, (part) => exchange(part, path, kept));
  return { path, bytes: statSync(path).size, kept: isKept ? kept : undefined };
}

function toBackupError(backup: string, error: unknown): unknown {
  if (!isDamage(error)) return toOpenError(backup, error);
  return new Failure(
    'conflict',
    `${backup} is not a database, or is damaged. Nothing was changed: restore another backup.`,
  );
}

/** Returns whether there was a database. At each moment there is one at `path`, unless there was none before. */
function exchange(part: string, path: string, kept: string): boolean {
  const wasThere = existsSync(path);
  const old = wasThere ? takeWhole(path) : undefined;
  try {
    if (wasThere) linkSync(path, kept);
    // Only a damaged database still has them.
    for (const end of ['-wal', '-shm'])
      if (existsSync(`${path}${end}`)) renameSync(`${path}${end}`, `${kept}${end}`);
    renameSync(part, path);
  } finally {
    old?.close();
  }
  return wasThere;
}

/**
 * The old database, locked, without a log. A process that waits for the lock to open it gets an error then, and does not
 * make a log beside the new one: SQLite notices that a database without a log has another name now. undefined for a
 * damaged database, which no process can use.
 */
function takeWhole(path: string): Database.Database | undefined {
  let old: Database.Database | undefined;
  try {
    old = new Database(path, { fileMustExist: true });
    takeAlone(old);
    old.exec('commit');
    old.pragma('journal_mode = DELETE');
    old.exec('begin exclusive');
    return old;
  } catch (error) {
    old?.close();
    if (error instanceof Failure) throw error;
    if (isDamage(error)) return undefined;
    throw error;
  }
}
