import type Database from 'better-sqlite3';
import type { Kysely } from 'kysely';
import { Failure } from '../../../domain/failure.ts';
import { MIGRATIONS } from '../../migrations/all.ts';
import { requireKnown } from '../../migrations/require-known.ts';
import type { Tables } from '../../tables.ts';
import { waitForLock } from './connect.ts';
import { requireNotMoved } from './moved.ts';

/** Takes the write lock only when there is something to migrate, so a command that only reads waits for no writer. */
export async function migrateSqlite(
  db: Kysely<Tables>,
  connection: Database.Database,
): Promise<void> {
  if (isCurrent(connection)) return;
  requireOwn(connection);
  const { Migrator } = await import('kysely/migration');
  // Kysely begins no transaction for migrations on SQLite. Without one, a migration that fails would be half
  // done, and two processes that open a new file would both run the first migration. Closing rolls back.
  await waitForLock(() => connection.exec('begin immediate'));
  const migrator = new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
  connection.exec('commit');
}

function isCurrent(connection: Database.Database): boolean {
  const applied = listApplied(connection);
  requireNotMoved(connection.name, applied);
  requireKnown(connection.name, applied);
  return applied.length === Object.keys(MIGRATIONS).length;
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
