import Database from 'better-sqlite3';
import { Kysely } from 'kysely';
import type { Tables } from '../../tables.ts';
import type { Store } from '../open.ts';
import { createWriter, toDb } from '../writer.ts';
import { createDatabaseFile, requireDatabaseFile } from './database-file.ts';
import { PreparedSqliteDialect, WritingSqliteDialect } from './dialect.ts';
import { migrateSqlite } from './migrate.ts';
import { createSharedReader, createSqliteReader } from './reader.ts';
import { toOpenError } from './sqlite-error.ts';

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
export async function openSqlite(path: string, { mustExist = false } = {}): Promise<Store> {
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
    await migrateSqlite(writing, connection);
  } catch (error) {
    connection.close();
    throw error;
  }
  return { writing, connection };
}

/** A database in memory has one connection, so reads and changes take turns. */
function toMemoryStore({ writing, connection }: Writing): Store {
  const writer = createWriter((change) => writing.transaction().execute(change));
  const close = async () => {
    await writer.settle();
    await closeWriting({ writing, connection });
  };
  return { db: toDb(writing, writer), reader: createSharedReader(writing), close };
}

/** In WAL mode reads on a connection of their own never wait for a change. */
function toFileStore(path: string, opened: Writing): Store {
  const connection = openReading(path, opened);
  const reading = new Kysely<Tables>({ dialect: new PreparedSqliteDialect(connection) });
  const writer = createWriter((change) => opened.writing.transaction().execute(change));
  const close = async () => {
    await writer.settle();
    // Closed before the writing connection: the last connection to close checkpoints, and a reading one
    // cannot.
    await reading.destroy();
    connection.close();
    await closeWriting(opened);
  };
  return { db: toDb(reading, writer), reader: createSqliteReader(connection, reading), close };
}

function openReading(path: string, opened: Writing): Database.Database {
  try {
    const connection = connect(path, { readonly: true });
    connection.pragma(`busy_timeout = ${READ_TIMEOUT_MS}`);
    return connection;
  } catch (error) {
    opened.connection.close();
    throw error;
  }
}

async function closeWriting({ writing, connection }: Writing): Promise<void> {
  await writing.destroy();
  // Kysely closes only connections that it has used.
  connection.close();
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
  // From here on, the start of a transaction waits as dialect.ts says.
  connection.pragma('busy_timeout = 0');
  return connection;
}
