import { existsSync, linkSync } from 'node:fs';
import Database from 'better-sqlite3';
import { unlessThere } from './database-file.ts';
import { makeWholeFile } from './whole-file.ts';

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

/**
 * Copies a database beside itself before it is migrated (`plumbline.db.before-0002-names`, by the last migration), so that
 * the version from before can be put back. Only the operator removes it. One that is there is of an earlier attempt.
 */
export async function keepBefore(path: string, migration: string): Promise<void> {
  const copy = `${path}.before-${migration}`;
  if (existsSync(copy)) return;
  await makeWholeFile(
    copy,
    (part) => copyPages(path, part),
    // Another process may have made a copy meanwhile; this one may be of the migrated database.
    (part) => unlessThere(() => linkSync(part, copy)),
  );
}
