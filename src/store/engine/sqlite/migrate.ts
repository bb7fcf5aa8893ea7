import type Database from 'better-sqlite3';
import type { Kysely } from 'kysely';
import { Failure } from '../../../domain/failure.ts';
import { MIGRATIONS, type Step } from '../../migrations/all.ts';
import type { Tables } from '../../tables.ts';
import {
  listPending,
  MAX_SECONDS,
  type MigrateOptions,
  requireKnown,
  runQuick,
  runStep,
} from '../pending-steps.ts';
import { IN_MEMORY, isBusy, waitForLock } from './connect.ts';
import { keepBefore } from './copy-pages.ts';
import { requireNotMoved } from './moved.ts';

/** Takes the write lock only when there is something to migrate, so a command that only reads waits for no writer. */
export async function migrateSqlite(
  db: Kysely<Tables>,
  connection: Database.Database,
  { steps = MIGRATIONS, migrate = runQuick }: MigrateOptions,
): Promise<void> {
  const applied = listApplied(connection);
  requireNotMoved(connection.name, applied);
  requireKnown(connection.name, applied, steps);
  if (applied.length === Object.keys(steps).length) return;
  requireOwn(connection);
  const isKept = applied.length > 0 && connection.name !== IN_MEMORY;
  const last = Object.keys(steps).at(-1) ?? '';
  let kept: Promise<void> | undefined;
  const run = async (name: string, step: Step, seconds: number) => {
    if (isKept) kept ??= keepBefore(connection.name, last);
    await kept;
    await runLocked(connection, { ...step, isLong: seconds > MAX_SECONDS }, () =>
      runStep({ db, steps, name }),
    );
  };
  await migrate(await listPending({ db, applied, steps }, run), connection.name);
}

/**
 * Kysely begins no transaction for migrations on SQLite. Without one, a migration that fails would be half done, and
 * two processes that open a new file would both run the first migration. Closing rolls back. Others would wait too
 * long for a long step. When that is repeatable, each of its statements is a transaction, so what is done stays done.
 */
async function runLocked(
  connection: Database.Database,
  { isLong, isRepeatable }: Pick<Step, 'isRepeatable'> & { readonly isLong: boolean },
  run: () => Promise<void>,
): Promise<void> {
  if (isLong) takeAlone(connection);
  else await waitForLock(() => connection.exec('begin immediate'));
  if (isLong && isRepeatable) connection.exec('commit');
  await run();
  if (connection.inTransaction) connection.exec('commit');
  if (isLong) shareAgain(connection);
}

/** A database with tables and without migrations is that of another program: nothing is added to it. */
function requireOwn(connection: Database.Database): void {
  const tables = connection.prepare("select name from sqlite_master where type = 'table'").pluck();
  const names = tables.all() as string[];
  if (names.length === 0 || names.includes('kysely_migration')) return;
  throw new Failure(
    'conflict',
    `The database ${connection.name} is that of another program. Set PLUMBLINE_DATABASE to the path of yours.`,
  );
}

export function listApplied(connection: Database.Database): string[] {
  const table = connection
    .prepare("select 1 from sqlite_master where type = 'table' and name = 'kysely_migration'")
    .get();
  if (table === undefined) return [];
  return connection.prepare('select name from kysely_migration').pluck().all() as string[];
}

/** How long to wait for processes that are about to close the database. */
const LOCK_TIMEOUT_MS = 2_000;

/**
 * Begins a transaction. From then on no other connection can read, write or open the database, also after the
 * transaction, until this one is closed. Throws `unavailable` while another process has the database open.
 */
export function takeAlone(connection: Database.Database): void {
  connection.pragma(`busy_timeout = ${LOCK_TIMEOUT_MS}`);
  connection.pragma('locking_mode = EXCLUSIVE');
  try {
    connection.exec('begin exclusive');
  } catch (error) {
    if (!isBusy(error)) throw error;
    throw new Failure(
      'unavailable',
      `The database ${connection.name} is in use: stop every process of Plumbline (serve, work, ingest) first.`,
    );
  } finally {
    connection.pragma('busy_timeout = 0');
  }
}

function shareAgain(connection: Database.Database): void {
  connection.pragma('locking_mode = NORMAL');
  // The next read releases the lock.
  connection.exec('select 1 from sqlite_schema');
}
