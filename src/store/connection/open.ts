import Database from 'better-sqlite3';
import { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';
import type { Db, Tx } from './database.ts';
import { toOpenError } from './database-error.ts';
import { createDatabaseFile, requireDatabaseFile } from './database-file.ts';
import { migrate } from './migrate.ts';
import { createSharedReader, createSqliteReader, type Reader } from './reader.ts';
import { PreparedSqliteDialect, WritingSqliteDialect } from './sqlite.ts';

/** The open database. `db` runs any query and every change; `reader` runs the frequent queries, prepared. */
export interface Store {
  readonly db: Db;
  readonly reader: Reader;
  /** Rejects new changes, waits for those in progress, and closes every connection. */
  close(): Promise<void>;
}

/** How long a connection blocks while another process opens, recovers or closes the same file. */
const OPEN_TIMEOUT_MS = 10_000;
/** The same for reads after that. Readiness has to be answered within half a second. */
const READ_TIMEOUT_MS = 200;
const IN_MEMORY = ':memory:';
/** A larger write-ahead log is cut back to this size when it is checkpointed. */
const MAX_IDLE_LOG_BYTES = 16 * 1024 * 1024;

/**
 * Opens the SQLite database at a path, and migrates it. A database that is not there is made, for this user
 * only, unless it must exist. `:memory:` is a database that ends with the process. Throws a Failure that names
 * the path and what to do when the database cannot be used.
 */
export async function openStore(path: string, { mustExist = false } = {}): Promise<Store> {
  if (path === IN_MEMORY) return toMemoryStore(await openWriting(path));
  try {
    if (mustExist) requireDatabaseFile(path);
    else createDatabaseFile(path);
    return toFileStore(path, await openWriting(path));
  } catch (error) {
    throw toOpenError(path, error);
  }
}

interface Writing {
  readonly writing: Kysely<Tables>;
  readonly connection: Database.Database;
}

async function openWriting(path: string): Promise<Writing> {
  const connection = connect(path);
  const writing = new Kysely<Tables>({ dialect: new WritingSqliteDialect(connection) });
  try {
    await migrate(writing, connection);
  } catch (error) {
    connection.close();
    throw error;
  }
  return { writing, connection };
}

/** A database in memory has one connection, so reads and changes take turns. */
function toMemoryStore(opened: Writing): Store {
  const { write, close } = createWriter(opened);
  return { db: toDb(opened.writing, write), reader: createSharedReader(opened.writing), close };
}

/** In WAL mode reads on a connection of their own never wait for a change. */
function toFileStore(path: string, opened: Writing): Store {
  const connection = connect(path, { readonly: true });
  connection.pragma(`busy_timeout = ${READ_TIMEOUT_MS}`);
  const reading = new Kysely<Tables>({ dialect: new PreparedSqliteDialect(connection) });
  const writer = createWriter(opened);
  const close = async () => {
    await writer.settle();
    // Closed before the writing connection: the last connection to close checkpoints, and a reading one
    // cannot.
    await reading.destroy();
    connection.close();
    await writer.close();
  };
  return {
    db: toDb(reading, writer.write),
    reader: createSqliteReader(connection, reading),
    close,
  };
}

function toDb(reading: Kysely<Tables>, write: Db['write']): Db {
  return {
    selectFrom: reading.selectFrom.bind(reading) as Db['selectFrom'],
    with: reading.with.bind(reading) as Db['with'],
    write,
  };
}

/** The only way to change the database. Closing waits for the changes that it runs. */
function createWriter({ writing, connection }: Writing) {
  const underWay = new Set<Promise<unknown>>();
  let isClosing = false;
  const write = async <T>(change: (tx: Tx) => Promise<T>): Promise<T> => {
    if (isClosing) throw new Error('The database is closed.');
    const running = writing.transaction().execute(change);
    underWay.add(running);
    try {
      return await running;
    } finally {
      underWay.delete(running);
    }
  };
  const settle = async () => {
    isClosing = true;
    await Promise.allSettled(underWay);
  };
  const close = async () => {
    await settle();
    await writing.destroy();
    // Kysely closes only connections that it has used.
    connection.close();
  };
  return { write, settle, close };
}

function connect(path: string, options: Database.Options = {}): Database.Database {
  const connection = new Database(path, {
    ...options,
    fileMustExist: path !== IN_MEMORY,
    timeout: OPEN_TIMEOUT_MS,
  });
  if (options.readonly !== true) connection.pragma('journal_mode = WAL');
  // FULL: in WAL mode a commit that has returned survives a power cut.
  connection.pragma('synchronous = FULL');
  connection.pragma('foreign_keys = ON');
  connection.pragma('cache_size = -32000');
  connection.pragma(`journal_size_limit = ${MAX_IDLE_LOG_BYTES}`);
  // From here on, the start of a transaction waits as sqlite.ts says.
  connection.pragma('busy_timeout = 0');
  return connection;
}

/** How long a readiness check waits for the database, in milliseconds. */
const READY_TIMEOUT_MS = 400;

/** Whether the database responds in time. */
export async function isReadable({ db }: Pick<Store, 'db'>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), READY_TIMEOUT_MS);
  });
  const query = db.selectFrom('account').select('id').limit(1).execute();
  const read = query.then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([read, late]);
  } finally {
    clearTimeout(timer);
  }
}
