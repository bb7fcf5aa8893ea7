import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { Kysely } from 'kysely';
import { Migrator } from 'kysely/migration';
import { MIGRATIONS } from './migrations/all.ts';
import { createSharedReader, createSqliteReader, type Reader } from './reader.ts';
import { PatientSqliteDialect } from './sqlite.ts';
import type { Tables } from './tables.ts';

/** The open database. `db` builds and runs any query; `reader` runs the hot ones, prepared. */
export interface Store {
  readonly db: Kysely<Tables>;
  readonly reader: Reader;
  /** Waits for the write under way, then closes every connection. */
  close(): Promise<void>;
}

/** How long opening waits for another process that opens the same new file, in milliseconds. */
const OPEN_TIMEOUT_MS = 10_000;
const IN_MEMORY = ':memory:';

/** Opens, or creates, the SQLite database at a path (`:memory:` for one that ends with the process), migrated. */
export async function openStore(path: string): Promise<Store> {
  if (path !== IN_MEMORY) mkdirSync(dirname(path), { recursive: true });
  const writing = connect(path);
  const db = new Kysely<Tables>({ dialect: new PatientSqliteDialect(writing) });
  try {
    await migrate(db, writing);
    // From here on it is the beginning of a transaction that waits, in its own way (sqlite.ts).
    writing.pragma('busy_timeout = 0');
  } catch (error) {
    writing.close();
    throw error;
  }
  if (path === IN_MEMORY) return { db, reader: createSharedReader(db), close: () => db.destroy() };
  const reading = connect(path, { readonly: true });
  const close = async () => {
    await db.destroy();
    reading.close();
  };
  return { db, reader: createSqliteReader(reading, db), close };
}

function connect(path: string, options: Database.Options = {}): Database.Database {
  const connection = new Database(path, { ...options, timeout: OPEN_TIMEOUT_MS });
  if (options.readonly !== true) connection.pragma('journal_mode = WAL');
  // FULL: in WAL mode a commit that was answered survives a power cut.
  connection.pragma('synchronous = FULL');
  connection.pragma('foreign_keys = ON');
  connection.pragma('cache_size = -32000');
  return connection;
}

/**
 * In one transaction, which Kysely does not begin on SQLite by itself: a migration that breaks off would be
 * half done, and two processes that open a new file would both begin with the first. Closing rolls back.
 */
async function migrate(db: Kysely<Tables>, connection: Database.Database): Promise<void> {
  connection.exec('begin immediate');
  const migrator = new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
  connection.exec('commit');
}

/** Whether the database answers. */
export async function isReadable({ db }: Store): Promise<boolean> {
  try {
    await db.selectFrom('account').select('id').limit(1).execute();
    return true;
  } catch {
    return false;
  }
}
