import { stat, statfs } from 'node:fs/promises';
import { sql } from 'kysely';
import { findDatabaseFile, isPostgresUrl } from '../../domain/database-address.ts';
import type { Db } from './database.ts';

interface DatabaseSize {
  readonly bytes: number;
  /** Of SQLite: the write-ahead log beside the file, and the free space of its disk. */
  readonly logBytes?: number;
  readonly freeBytes?: number;
}

/** undefined for a database in memory. */
export async function measureDatabase(database: string, db: Db): Promise<DatabaseSize | undefined> {
  if (isPostgresUrl(database)) return { bytes: await readPostgresBytes(db) };
  const file = findDatabaseFile(database);
  if (file === undefined) return undefined;
  const log = await stat(`${file}-wal`).catch(() => undefined);
  const { bavail, bsize } = await statfs(file);
  const { size } = await stat(file);
  return { bytes: size, logBytes: log?.size ?? 0, freeBytes: bavail * bsize };
}

async function readPostgresBytes(db: Db): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select pg_database_size(current_database()) as bytes`.execute(db);
  return rows[0]?.bytes ?? 0;
}
