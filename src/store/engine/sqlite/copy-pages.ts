import Database from 'better-sqlite3';

/** 8 MiB. Between two such pieces the process answers requests. */
const PAGES_AT_ONCE = 1_024;

/**
 * Copies a database as it is at this moment, while others use and change it. The write-ahead log grows meanwhile: a read
 * transaction keeps what the database was.
 */
export async function copyPages(
  from: string,
  to: string,
  onProgress?: (done: number, total: number) => void,
): Promise<void> {
  // Not read-only: when it is the only one to have the database open, it has to remove the log that it makes.
  const source = new Database(from, { fileMustExist: true });
  try {
    source.pragma('query_only = on');
    // SQLite begins the copy anew when another connection changes the database, except within a transaction.
    source.exec('begin');
    source.prepare('select 1 from sqlite_schema').get();
    await source.backup(to, {
      progress: ({ totalPages, remainingPages }) => {
        onProgress?.(totalPages - remainingPages, totalPages);
        return PAGES_AT_ONCE;
      },
    });
  } finally {
    source.close();
  }
}
