import { statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { Failure } from '../../domain/failure.ts';
import { requireKnown } from '../engine/pending-steps.ts';
import { giveNumber } from '../engine/sqlite/connect.ts';
import { toOpenError } from '../engine/sqlite/errors.ts';
import { listApplied } from '../engine/sqlite/migrate.ts';
import { requireNotMoved } from '../engine/sqlite/moved.ts';
import { MIGRATIONS } from '../migrations/all.ts';

/**
 * Checks that the file is a database of Plumbline of a version that this one knows, and undamaged. From then on all of it
 * is in the one file. `of` is the path of what was copied, and `toError` says why that cannot be used. Returns whether it has the
 * schema of this version.
 */
export function isCurrent(path: string, of: string, toError = toOpenError): boolean {
  const copy = new Database(path, { fileMustExist: true });
  try {
    copy.pragma('journal_mode = DELETE');
    giveNumber(copy);
    const applied = listApplied(copy);
    if (applied.length === 0)
      throw new Failure('conflict', `${of} is not a database of Plumbline.`);
    requireNotMoved(of, applied);
    requireKnown(of, applied, MIGRATIONS);
    requireWhole(copy, of);
    return applied.length === Object.keys(MIGRATIONS).length;
  } catch (error) {
    throw toError(of, error);
  } finally {
    copy.close();
  }
}

function requireWhole(copy: Database.Database, of: string): void {
  const damage = copy.pragma('integrity_check(1)', { simple: true });
  const orphans = copy.pragma('foreign_key_check') as unknown[];
  if (damage === 'ok' && orphans.length === 0) return;
  const what = damage === 'ok' ? `${orphans.length} rows refer to rows that are missing` : damage;
  throw new Failure('conflict', `The database ${of} is damaged: ${what}.`);
}

/** A copy of an open database has its newest changes in another file. */
export function requireClosed(path: string): void {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  if (log === undefined || log.size === 0) return;
  throw new Failure(
    'conflict',
    `${path} has a write-ahead log beside it: it is no backup, but the database of a process that runs or was killed. ` +
      '“plumbline backup” copies such a database.',
  );
}
