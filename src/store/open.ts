import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { Migrator } from 'kysely/migration';
import { LRUCache } from 'lru-cache';
import { MIGRATIONS } from './migrations/all.ts';
import { createSharedReader, createSqliteReader, type Reader } from './reader.ts';
import type { Tables } from './tables.ts';

/** The open database. `db` builds and runs any query; `reader` runs the hot ones, prepared. */
export interface Store {
  readonly db: Kysely<Tables>;
  readonly reader: Reader;
  /** Waits for the write under way, then closes every connection. */
  close(): Promise<void>;
}

/** How long a connection waits for another process's write before it gives up, in milliseconds. */
const BUSY_TIMEOUT_MS = 10_000;
const IN_MEMORY = ':memory:';

/** Opens, or creates, the SQLite database at a path (`:memory:` for one that ends with the process), migrated. */
export async function openStore(path: string): Promise<Store> {
  if (path !== IN_MEMORY) mkdirSync(dirname(path), { recursive: true });
  const writing = connect(path);
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: cached(writing) }) });
  try {
    await migrate(db, writing);
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
  const connection = new Database(path, { ...options, timeout: BUSY_TIMEOUT_MS });
  if (options.readonly !== true) connection.pragma('journal_mode = WAL');
  // FULL: in WAL mode a commit that was answered survives a power cut.
  connection.pragma('synchronous = FULL');
  connection.pragma('foreign_keys = ON');
  connection.pragma('cache_size = -32000');
  return connection;
}

/** How many statements are kept prepared; the product has fewer. */
const MAX_STATEMENTS = 200;

/**
 * What Kysely needs of a connection, with two habits of its own. Statements are prepared once. And a
 * transaction takes the write lock when it begins: one that reads first and then finds that another
 * process has written would fail at once, whatever the busy timeout.
 */
function cached(connection: Database.Database) {
  const statements = new LRUCache<string, Database.Statement>({ max: MAX_STATEMENTS });
  const prepare = (text: string) => {
    const sql = text === 'begin' ? 'begin immediate' : text;
    const statement = statements.get(sql) ?? connection.prepare(sql);
    statements.set(sql, statement);
    return statement as Database.Statement<unknown[]>;
  };
  return { prepare, close: () => connection.close() };
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
