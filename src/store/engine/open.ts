import { setTimeout as sleep } from 'node:timers/promises';
import { isPostgresUrl } from '../../domain/database-address.ts';
import { isOfConnection, toPostgresError } from './postgres/errors.ts';
import type { Reader } from './reader.ts';
import { toSqliteError } from './sqlite/errors.ts';
import type { Store, StoreOptions } from './store.ts';

/** SQLite's errors are Failures already, and it has no connection that could be lost. */
export { isOfConnection };

/**
 * Opens a database and migrates it: PostgreSQL for a URL, SQLite for a path. Only the driver of its engine is loaded.
 * Throws a Failure that says what to do when the database cannot be used.
 */
export async function openStore(database: string, options: StoreOptions = {}): Promise<Store> {
  if (isPostgresUrl(database))
    return (await import('./postgres/open.ts')).openPostgres(database, options);
  return (await import('./sqlite/open.ts')).openSqlite(database, options);
}

/** A reader with connections of its own, of a database that is open elsewhere in the process. */
export async function openReader(database: string, password: () => string): Promise<Reader> {
  if (isPostgresUrl(database))
    return (await import('./postgres/open.ts')).openPostgresReader(database, password);
  return (await import('./sqlite/open.ts')).openSqliteReader(database);
}

/** Says which database cannot be used, why, and what to do. An error that is not the engine's is returned as it is. */
export function toDatabaseError(database: string, error: unknown): unknown {
  return isPostgresUrl(database)
    ? toPostgresError(database, error)
    : toSqliteError(database, error);
}

/** PostgreSQL's data exceptions, violated constraints and exceeded limits (its manual, appendix A). */
const POSTGRES_VALUES = /^(?:22|23|54)[0-9A-Z]{3}$/;
/** Errors of triggers are left out: an operator may have added one that refuses every document. */
const SQLITE_VALUES = /^SQLITE_(?:CONSTRAINT_(?!TRIGGER)|MISMATCH|TOOBIG)/;

/** Whether an error is about a document's values. All others are about the database: no space, no access, busy. */
export function isOfValues(error: unknown): boolean {
  const code = String((error as { code?: string } | undefined)?.code);
  return POSTGRES_VALUES.test(code) || SQLITE_VALUES.test(code);
}

export const READY_TIMEOUT_MS = 400;

/** Whether the database responds in time. */
export async function isReadable({ readiness }: Pick<Store, 'readiness'>): Promise<boolean> {
  const query = readiness.selectFrom('account').select('id').limit(1).execute();
  const timeout = sleep(READY_TIMEOUT_MS, false, { ref: false });
  return await Promise.race([query.then(() => true), timeout]).catch(() => false);
}
