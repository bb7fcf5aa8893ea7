import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { Failure } from '../../../domain/failure.ts';
import { describeSystemError } from '../../../domain/system-error.ts';

/** Only the user that runs Plumbline reads a copy or an export: it holds what the database does. */
const FILE_MODE = 0o600;

/**
 * Makes a database or an export in a file beside the one that it becomes (`fill`), and gives it its name (`publish`) when it
 * is on the disk. So a file with that name is whole, whenever the process is killed. `fill` leaves nothing in a log beside `part`.
 * What processes that were killed have left in the folder is removed.
 */
export async function makeWholeFile<T>(
  path: string,
  fill: (part: string) => Promise<void>,
  publish: (part: string) => T | Promise<T>,
): Promise<T> {
  removeLeft(dirname(path));
  const part = `${path}.${randomUUID()}.part`;
  const lock = makeLocked(part);
  try {
    await fill(part);
    sync(part);
    const result = await publish(part);
    syncFolder(dirname(path));
    return result;
  } finally {
    remove(part, lock);
  }
}

/**
 * Beside a file that is being made is an empty database, which its process has locked before it made the file: the system
 * gives the lock free when the process ends, and to nobody before, in another container or on another machine either.
 */
const LOCK = /\.[0-9a-f-]{36}\.part-lock$/;

function makeLocked(part: string): Database.Database {
  try {
    closeSync(openSync(`${part}-lock`, 'wx', FILE_MODE));
    const lock = takeLock(`${part}-lock`);
    closeSync(openSync(part, 'wx', FILE_MODE));
    return lock;
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    const why = describeSystemError(error);
    throw new Failure('conflict', `Nothing can be written to the folder ${dirname(part)}: ${why}.`);
  }
}

/** Throws when another connection has it. */
function takeLock(path: string): Database.Database {
  const lock = new Database(path, { fileMustExist: true, timeout: 0 });
  try {
    // No file beside it.
    lock.pragma('journal_mode = memory');
    return lock.exec('begin exclusive');
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** A lock without its file may be of a process that is about to make the file. */
function removeLeft(folder: string): void {
  for (const name of listNames(folder)) {
    if (!LOCK.test(name)) continue;
    const part = join(folder, name.slice(0, -'-lock'.length));
    if (!existsSync(part)) continue;
    try {
      remove(part, takeLock(`${part}-lock`));
    } catch {
      // Somebody makes it, or it is another user's.
    }
  }
}

/** A folder that cannot be listed has none: whether it can be written is seen later. */
function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function remove(part: string, lock: Database.Database): void {
  for (const end of ['', '-wal', '-shm', '-journal']) rmSync(`${part}${end}`, { force: true });
  lock.close();
  rmSync(`${part}-lock`, { force: true });
}

function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** So that the file has its name after a power cut. Windows cannot open a folder. */
function syncFolder(path: string): void {
  if (process.platform !== 'win32') sync(path);
}
