import type Database from 'better-sqlite3';
import { Kysely } from 'kysely';
import type { Tables } from '../../tables.ts';
import { createWriter, toDb } from '../database.ts';
import type { MigrateOptions } from '../pending-steps.ts';
import type { Store, StoreOptions } from '../store.ts';
import { connect, IN_MEMORY, PlumblineSqliteDialect } from './connect.ts';
import { createDatabaseFile, requireDatabaseFile } from './database-file.ts';
import { toOpenError } from './errors.ts';
import { createShortage } from './free-space.ts';
import { migrateSqlite } from './migrate.ts';
import { createSharedReader, createSqliteReader } from './reader.ts';

/** How long a read blocks while another process recovers or closes the file: readiness answers within 500 ms. */
const READ_TIMEOUT_MS = 200;

/**
 * Opens and migrates the database at a path, or in memory for `:memory:`. Makes a missing one, for this user only,
 * unless it must exist. Throws a Failure that names the path and what to do.
 */
export async function openSqlite(
  path: string,
  { mustExist = false, ...options }: StoreOptions = {},
): Promise<Store> {
  if (path === IN_MEMORY) return toMemoryStore(await openWriting(path, options));
  try {
    if (mustExist) requireDatabaseFile(path);
    else createDatabaseFile(path);
    return toFileStore(path, await openWriting(path, options), options);
  } catch (error) {
    throw toOpenError(path, error);
  }
}

interface Writing {
  readonly writing: Kysely<Tables>;
  readonly connection: Database.Database;
}

async function openWriting(path: string, options: MigrateOptions): Promise<Writing> {
  const connection = connect(path);
  const writing = new Kysely<Tables>({ dialect: new PlumblineSqliteDialect(connection) });
  try {
    await migrateSqlite(writing, connection, options);
  } catch (error) {
    connection.close();
    throw error;
  }
  return { writing, connection };
}

/** A database in memory has one connection, so reads and changes wait for one another. */
function toMemoryStore({ writing, connection }: Writing): Store {
  const writer = createWriter((change) => writing.transaction().execute(change));
  const close = async () => {
    await writer.settle();
    await closeWriting({ writing, connection });
  };
  return { db: toDb(writing, writer), reader: createSharedReader(writing), close };
}

/** In WAL mode reads on a connection of their own never wait for a change. */
function toFileStore(path: string, opened: Writing, options: StoreOptions): Store {
  const connection = openReading(path, opened);
  const reading = new Kysely<Tables>({ dialect: new PlumblineSqliteDialect(connection) });
  const writer = createWriter((change) => opened.writing.transaction().execute(change));
  const close = async () => {
    await writer.settle();
    // Before the writing connection: the last connection to close checkpoints, and a reading one cannot.
    await reading.destroy();
    connection.close();
    await closeWriting(opened);
  };
  const db = toDb(reading, writer, createShortage(path, options));
  return { db, reader: createSqliteReader(connection, reading), close };
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
