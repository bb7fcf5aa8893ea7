import { lstatSync, renameSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { copyPages } from '../engine/sqlite/copy-pages.ts';
import { requireDatabaseFile } from '../engine/sqlite/database-file.ts';
import { toSqliteError } from '../engine/sqlite/errors.ts';
import { readDatabaseFile } from '../engine/sqlite/open.ts';
import { makeWholeFile } from '../engine/sqlite/whole-file.ts';
import { findWrongHead } from '../verify/verify.ts';
import { isCurrent } from './copy.ts';

interface BackupOptions {
  /** The path of a SQLite database, which others may use and change meanwhile. */
  readonly from: string;
  readonly to: string;
  /** Whether `to` may exist. It is replaced when the copy is checked. */
  readonly force?: boolean;
  /** Files that are not replaced, beside those of the database. */
  readonly others?: readonly string[];
  readonly onProgress?: (done: number, total: number) => void;
}

/** The ends of a database's files: SQLite makes three beside it. */
const OWN_ENDS = ['', '-wal', '-shm', '-journal'];

/** Copies a database as it is at this moment, checks the copy, and gives it its name. Returns its whole path. */
export async function backUp({ from, to, force, others = [], onProgress }: BackupOptions) {
  const path = resolve(to);
  requireDatabaseFile(from);
  const ours = [...OWN_ENDS.map((end) => from + end), ...others].map((one) => resolve(one));
  if (ours.includes(path)) throw new Failure('conflict', 'A backup needs a file of its own.');
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (there?.isFile() === false)
    throw new Failure('conflict', `${path} is not a regular file: nothing else is replaced.`);
  if (there !== undefined && !force)
    throw new Failure('conflict', `${path} exists already. With --force it is replaced.`);
  const fill = async (part: string) => {
    await copyPages(from, part, onProgress);
    if (isCurrent(part, from)) await readDatabaseFile(part, (copy) => requireHeads(copy, from));
  };
  await makeWholeFile(path, fill, (part) => renameSync(part, path)).catch((error) => {
    throw toSqliteError(from, error);
  });
  return { path, bytes: statSync(path).size };
}

async function requireHeads(copy: Parameters<typeof findWrongHead>[0], of: string): Promise<void> {
  const wrong = await findWrongHead(copy);
  if (wrong === undefined) return;
  const { figure, stored, right } = wrong;
  throw new Failure(
    'conflict',
    `The database ${of} is not as it counts itself: ${figure} of ${wrong.of} is ${stored}, not ${right}. ` +
      '“plumbline verify” names all that is wrong, and “plumbline verify --repair” mends it.',
  );
}
