import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';

/** Only the user that runs Plumbline reads a copy of a database: it holds what the database does. */
const FILE_MODE = 0o600;

/**
 * Makes a database in a file beside the one that it becomes (`fill`), and gives it its name (`publish`) when it is on the
 * disk. So a file with that name is whole, whenever the process is killed. `fill` leaves nothing in a log beside `part`.
 */
export async function makeWholeFile<T>(
  path: string,
  fill: (part: string) => Promise<void>,
  publish: (part: string) => T | Promise<T>,
): Promise<T> {
  const part = `${path}.${randomUUID()}.part`;
  try {
    closeSync(openSync(part, 'wx', FILE_MODE));
    await fill(part);
    sync(part);
    const result = await publish(part);
    syncFolder(dirname(path));
    return result;
  } finally {
    for (const end of ['', '-wal', '-shm', '-journal']) rmSync(`${part}${end}`, { force: true });
  }
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
