import Database from 'better-sqlite3';

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
