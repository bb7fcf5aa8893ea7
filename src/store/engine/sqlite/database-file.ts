import { closeSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { isBackupName } from '../../../domain/backup-names.ts';
import { Failure } from '../../../domain/failure.ts';

/** Only the user that makes the database reads it: it holds reports, addresses and hashes of passwords. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** Makes an empty file, which is an empty database, and the folders to it, unless it is there. */
export function createDatabaseFile(path: string): void {
  if (isThere(path)) return;
  createFolder(dirname(path));
  unlessThere(() => closeSync(openSync(path, 'wx', FILE_MODE)));
}

/** A lost database is missing or empty, or its disk is not mounted. Backups of a new one would take the place of those there. */
export function requireNoBackup(path: string, folder: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.size) return;
  const newest = isFolder(folder) ? findBackup(folder) : undefined;
  if (newest === undefined) return;
  throw new Failure(
    'conflict',
    `There is no database at ${path}, and ${folder} has a backup of one. Is its disk mounted? ` +
      `“plumbline restore ${join(folder, newest)}” puts the backup in its place. To begin with an empty database, move the ` +
      'backups to another folder.',
  );
}

/** The newest backup that has reports, whatever its name; else the newest one, such as that of an empty database. */
function findBackup(folder: string): string | undefined {
  const backups = readdirSync(folder)
    // A link leads to a backup on another disk, perhaps.
    .filter((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile())
    .filter((name) => !name.endsWith('.part'))
    .map((name) => ({ name, reports: findReports(join(folder, name), isBackupName(name)) }))
    .filter(({ reports }) => reports !== undefined)
    .map((backup) => ({ ...backup, madeAt: statSync(join(folder, backup.name)).mtimeMs }))
    .sort((a, b) => Number(b.reports) - Number(a.reports) || b.madeAt - a.madeAt);
  return backups[0]?.name;
}

/** Whether a database of ours has reports; undefined for what is none, unless its name says that it is one. */
function findReports(path: string, isNamed: boolean): boolean | undefined {
  let connection: Database.Database | undefined;
  try {
    connection = new Database(path, { readonly: true, fileMustExist: true });
    connection.prepare('select 1 from kysely_migration').get();
    return connection.prepare('select 1 from report limit 1').get() !== undefined;
  } catch (error) {
    // A damaged backup is one all the same, and so is what cannot be read now.
    const isOther = ['SQLITE_NOTADB', 'SQLITE_ERROR'].includes((error as { code: string }).code);
    return isOther && !isNamed ? undefined : false;
  } finally {
    connection?.close();
  }
}

const isFolder = (path: string) =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** Throws `not_found` when there is no file. */
export function requireDatabaseFile(path: string): void {
  if (isThere(path)) return;
  throw new Failure(
    'not_found',
    `There is no database at ${path}. Set PLUMBLINE_DATABASE to the path of yours. ` +
      '“account create”, “ingest” and “serve” make a new one; “plumbline restore” puts a backup in its place.',
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

/** What SQLite's quick_check finds first in the file; undefined when it is not damaged. Reads all of it. */
export function findDamage(path: string): string | undefined {
  const connection = new Database(path, { readonly: true, fileMustExist: true });
  try {
    const found = String(connection.pragma('quick_check(1)', { simple: true }));
    return found === 'ok' ? undefined : found;
  } finally {
    connection.close();
  }
}

/** mkdir's option `recursive` is not used: under `/proc`, where nothing can be made, node tries again without end. */
function createFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false }) !== undefined) return;
  const parent = dirname(folder);
  if (parent !== folder) createFolder(parent);
  unlessThere(() => mkdirSync(folder, { mode: FOLDER_MODE }));
}

/** Makes what another process may have made meanwhile. */
export function unlessThere(make: () => void): void {
  try {
    make();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
