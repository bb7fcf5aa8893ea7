import { isPostgresUrl } from '../../domain/database-address.ts';
import { toPostgresError } from './postgres/postgres-error.ts';
import { toSqliteError } from './sqlite/sqlite-error.ts';

/**
 * The error that says which database cannot be used, why, and what to do about it. An error that is not the
 * engine's is returned as it is.
 */
export function toDatabaseError(database: string, error: unknown): unknown {
  return isPostgresUrl(database)
    ? toPostgresError(database, error)
    : toSqliteError(database, error);
}

/**
 * What an engine says of a value that it cannot store. Another document would not meet this error. A trigger is the
 * operator's own, and may refuse every value.
 */
const DATA_ERRORS =
  /^(?:SQLITE_(?:CONSTRAINT_(?!TRIGGER)|MISMATCH|TOOBIG)|(?:22|23|54)[0-9A-Z]{3}$)/;

/** Whether an error is about the stored values. All others are the database's: no space, no access, busy. */
export function isOfValues(error: unknown): boolean {
  return DATA_ERRORS.test(String((error as { code?: string } | undefined)?.code));
}
