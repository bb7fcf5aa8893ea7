import { statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { Failure } from '../../domain/failure.ts';
import { requireKnown } from '../engine/pending-steps.ts';
import { toOpenError } from '../engine/sqlite/errors.ts';
import { listApplied } from '../engine/sqlite/migrate.ts';
import { requireNotMoved } from '../engine/sqlite/moved.ts';
import { makeWholeFile } from '../engine/sqlite/whole-file.ts';
import { MIGRATIONS } from '../migrations/all.ts';

/** Makes a copy of a database, checks it and gives it its name (`publish`) when it is on the disk. */
export async function makeCopy<T>(
  path: string,
  { of, fill, check, publish, toError = toOpenError }: Making<T>,
): Promise<T> {
  const fillAndCheck = async (part: string): Promise<void> => {
    await fill(part);
    if (isCurrent(part, { of, toError })) await check?.(part);
  };
  return await makeWholeFile(path, fillAndCheck, publish);
}

interface Making<T> {
  /** The path of what is copied, for messages. */
  readonly of: string;
  readonly fill: (part: string) => void | Promise<void>;
  /** Checks a copy that has the schema of this version. */
  readonly check?: (part: string) => Promise<void>;
  readonly publish: (part: string) => T | Promise<T>;
  /** Says why what is copied cannot be used. */
  readonly toError?: typeof toOpenError;
}

/**
 * Checks that the file is a database of Plumbline of a version that this one knows, and undamaged. From then on all of it
 * is in the one file. Returns whether it has the schema of this version.
 */
function isCurrent(
  path: string,
  { of, toError }: { readonly of: string; readonly toError: typeof toOpenError },
): boolean {
  const copy = new Database(path, { fileMustExist: true });
  try {
    copy.pragma('journal_mode = DELETE');
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
