import type Database from 'better-sqlite3';
import { Failure } from '../../../domain/failure.ts';

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
    if (!String((error as { code?: string }).code).startsWith('SQLITE_BUSY')) throw error;
    throw new Failure(
      'unavailable',
      `The database ${connection.name} is in use: stop every process of Plumbline (serve, work, ingest) first.`,
    );
  } finally {
    connection.pragma('busy_timeout = 0');
  }
}

export function shareAgain(connection: Database.Database): void {
  connection.pragma('locking_mode = NORMAL');
  // The next read releases the lock.
  connection.exec('select 1 from sqlite_schema');
}
