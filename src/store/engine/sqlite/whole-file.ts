import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Failure } from '../../../domain/failure.ts';
import { DAY_MS } from '../../../domain/instant.ts';
import { describeSystemError } from '../../../domain/system-error.ts';

/** Only the user that runs Plumbline reads a copy or an export: it holds what the database does. */
const FILE_MODE = 0o600;

/**
 * Makes a database or an export in a file beside the one that it becomes (`fill`), and gives it its name (`publish`) when it
 * is on the disk. So a file with that name is whole, whenever the process is killed. `fill` leaves nothing in a log beside `part`.
 * What processes that were killed have left in the folder is removed a day later.
 */
export async function makeWholeFile<T>(
  path: string,
  fill: (part: string) => Promise<void>,
  publish: (part: string) => T | Promise<T>,
): Promise<T> {
  removeLeft(dirname(path));
  const part = `${path}.${randomUUID()}.part`;
  makeEmpty(part);
  try {
    await fill(part);
    sync(part);
    const result = await publish(part);
    syncFolder(dirname(path));
    return result;
  } finally {
    remove(part);
  }
}

function makeEmpty(part: string): void {
  try {
    closeSync(openSync(part, 'wx', FILE_MODE));
  } catch (error) {
    const why = describeSystemError(error);
    throw new Failure('conflict', `Nothing can be written to the folder ${dirname(part)}: ${why}.`);
  }
}

const PART = /\.[0-9a-f-]{36}\.part$/;

/** A file that nobody has written to for a day is of a process that was killed. */
function removeLeft(folder: string): void {
  for (const name of listNames(folder).filter((one) => PART.test(one))) {
    const part = join(folder, name);
    try {
      if (Date.now() - statSync(part).mtimeMs > DAY_MS) remove(part);
    } catch {
      // It has its name now, or it is another user's.
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

function remove(part: string): void {
  for (const end of ['', '-wal', '-shm', '-journal']) rmSync(`${part}${end}`, { force: true });
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
