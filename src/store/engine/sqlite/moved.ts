import type Database from 'better-sqlite3';
import { Failure } from '../../../domain/failure.ts';

/*
 * A SQLite database that was moved to PostgreSQL says so by a row among its migrations, so every version of Plumbline
 * refuses to open it: one that does not know moves refuses a migration that it does not know.
 */

/** When a database was moved, and the URL of the new one, without its password. */
export type Move = { readonly at: string; readonly to: string };

const MIGRATION = /^9999-moved (\S+) (.+)$/;

export function findMove(migrations: readonly string[]): Move | undefined {
  const [, at = '', to = ''] = migrations.map((name) => MIGRATION.exec(name)).find(Boolean) ?? [];
  return to === '' ? undefined : { at, to };
}

export function insertMove(connection: Database.Database, { at, to }: Move): void {
  const insert = connection.prepare('insert into kysely_migration (name, timestamp) values (?, ?)');
  insert.run(`9999-moved ${at} ${to}`, at);
}

export function deleteMove(connection: Database.Database): void {
  connection.exec("delete from kysely_migration where name like '9999-moved %'");
}

export function requireNotMoved(path: string, migrations: readonly string[]): void {
  const move = findMove(migrations);
  if (move === undefined) return;
  throw new Failure(
    'conflict',
    `The database ${path} was moved to PostgreSQL at ${move.at}. Set PLUMBLINE_DATABASE to ${move.to}. ` +
      '“plumbline move --cancel” lets the old one be used again.',
  );
}
