import { stat, statfs } from 'node:fs/promises';
import { sql } from 'kysely';
import { findDatabaseFile, isPostgresUrl } from '../../domain/database-address.ts';
import { toSizeText } from '../../domain/size.ts';
import type { Db } from './database.ts';

/** SQLite also has a write-ahead log beside the file, and the free space of its disk. undefined for a database in memory. */
export async function measureDatabase(database: string, db: Db) {
  if (isPostgresUrl(database)) return { bytes: await readPostgresBytes(db) };
  const file = findDatabaseFile(database);
  if (file === undefined) return undefined;
  const log = await stat(`${file}-wal`).catch(() => undefined);
  const { size } = await stat(file);
  return { bytes: size, logBytes: log?.size ?? 0, freeBytes: await readFree(file) };
}

async function readPostgresBytes(db: Db): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select pg_database_size(current_database()) as bytes`.execute(db);
  return rows[0]?.bytes ?? 0;
}

/** How long a measurement is good. */
const MEASURE_MS = 1_000;

export type MeasureFree = (path: string) => Promise<number>;

/** Why nothing more is taken in from outside; undefined while the file system of the database has enough free space. */
export function createShortage(
  path: string,
  {
    minFreeBytes = 0,
    measureFree = readFree,
  }: { minFreeBytes?: number | undefined; measureFree?: MeasureFree | undefined },
): () => Promise<string | undefined> {
  let [free, untilMs] = [minFreeBytes, Number.NEGATIVE_INFINITY];
  return async () => {
    if (minFreeBytes > 0 && performance.now() >= untilMs) {
      untilMs = performance.now() + MEASURE_MS;
      // What cannot be measured, writing will meet.
      free = await measureFree(path).catch(() => minFreeBytes);
    }
    if (free >= minFreeBytes) return undefined;
    const floor = `PLUMBLINE_MIN_FREE_MB asks for ${toSizeText(minFreeBytes)}`;
    return `the disk of the database has ${toSizeText(free)} free, and ${floor}`;
  };
}

async function readFree(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}
