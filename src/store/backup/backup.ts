import { existsSync, renameSync } from 'node:fs';
import { resolve } from 'node:path';
import Database from 'better-sqlite3';
import { Failure } from '../../domain/failure.ts';
import { requireDatabaseFile } from '../engine/sqlite/database-file.ts';
import { makeCopy } from './copy.ts';

/** 8 MiB. Between two such pieces the process answers requests. */
const PAGES_AT_ONCE = 1_024;

export interface Backup {
  /** Whole. */
  readonly path: string;
  readonly bytes: number;
}

interface BackupOptions {
  /** The path of a SQLite database, which others may use and change meanwhile. */
  readonly from: string;
  readonly to: string;
  /** Whether `to` may exist. It is replaced when the copy is checked. */
  readonly force?: boolean;
  readonly onProgress?: (done: number, total: number) => void;
}

/**
 * Copies a database as it is at this moment, checks the copy, and gives it its name. The write-ahead log grows meanwhile:
 * a read transaction keeps what the database was.
 */
export async function backUp({ from, to, force, onProgress }: BackupOptions): Promise<Backup> {
  const path = resolve(to);
  requireDatabaseFile(from);
  if (path === resolve(from)) throw new Failure('conflict', 'A backup needs a file of its own.');
  if (existsSync(path) && !force)
    throw new Failure('conflict', `${path} exists already. With --force it is replaced.`);
  const { size } = await makeCopy(path, {
    of: from,
    fill: (part) => copyPages(from, part, onProgress),
    publish: (part) => renameSync(part, path),
  });
  return { path, bytes: size };
}

async function copyPages(
  from: string,
  to: string,
  onProgress?: BackupOptions['onProgress'],
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
