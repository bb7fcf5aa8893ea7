import type Database from 'better-sqlite3';
import { Kysely } from 'kysely';
import type { Tables } from '../../tables.ts';
import { openAside, runHere } from '../aside.ts';
import { createWriter, type Db, type Queries, toDb } from '../database.ts';
import type { Reader } from '../reader.ts';
import { createShortage } from '../space.ts';
import type { Store, StoreOptions } from '../store.ts';
import { connect, IN_MEMORY, PlumblineSqliteDialect } from './connect.ts';
import { createDatabaseFile, requireDatabaseFile } from './database-file.ts';
import { toOpenError } from './errors.ts';
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
  { mustExist = false, backupFolder, ...options }: StoreOptions = {},
): Promise<Store> {
  if (path === IN_MEMORY) return await open(path, options);
  try {
    if (mustExist) requireDatabaseFile(path);
    else createDatabaseFile(path, backupFolder);
    return await open(path, options);
  } catch (error) {
    throw toOpenError(path, error);
  }
}

async function open(path: string, options: StoreOptions): Promise<Store> {
  const connection = connect(path);
  try {
    const writing = toKysely(connection);
    await migrateSqlite(writing, connection, options);
    // What a statement changes is copied before, so that it can be undone alone: else into a file, from eight pages on. Not
    // before migrating, which may sort a whole table.
    connection.pragma('temp_store = MEMORY');
    const reading = path === IN_MEMORY ? undefined : connectReading(path);
    const findShortage = createShortage(path, options);
    const thread = options.hasThread && reading ? openAside(path) : undefined;
    return toStore({ db: writing, connection }, { reading, thread }, findShortage);
  } catch (error) {
    connection.close();
    throw error;
  }
}

interface Connected {
  readonly db: Kysely<Tables>;
  readonly connection: Database.Database;
}

/** Reads a file that nobody writes to. */
export async function readDatabaseFile<T>(
  path: string,
  read: (reading: { readonly db: Queries; readonly reader: Reader }) => Promise<T>,
): Promise<T> {
  const { db, connection } = connectReading(path);
  try {
    return await read({ db, reader: createSqliteReader(connection, db) });
  } finally {
    connection.close();
  }
}

/** For a thread, which ends with its connection. */
export function openSqliteReader(path: string): Reader {
  const { db, connection } = connectReading(path);
  return createSqliteReader(connection, db);
}

function connectReading(path: string): Connected {
  const connection = connect(path, { readonly: true });
  connection.pragma(`busy_timeout = ${READ_TIMEOUT_MS}`);
  return { db: toKysely(connection), connection };
}

function toKysely(connection: Database.Database): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: new PlumblineSqliteDialect(connection) });
}

interface Readings {
  readonly reading: Connected | undefined;
  readonly thread: ReturnType<typeof openAside> | undefined;
}

/**
 * In WAL mode reads on a connection of their own never wait for a change. A database in memory has one connection, so
 * reads and changes wait for one another.
 */
function toStore(
  writing: Connected,
  { reading, thread }: Readings,
  findShortage: Db['findShortage'],
): Store {
  const writer = createWriter((change) => writing.db.transaction().execute(change));
  const reader =
    reading === undefined
      ? createSharedReader(writing.db)
      : createSqliteReader(reading.connection, reading.db);
  const close = async () => {
    await writer.settle();
    await thread?.close();
    // The writing connection last: the last one to close checkpoints, and a reading one cannot.
    for (const connected of reading === undefined ? [writing] : [reading, writing]) {
      await connected.db.destroy();
      // Kysely closes only connections that it has used.
      connected.connection.close();
    }
  };
  const aside = thread?.aside ?? runHere(reader);
  return { db: toDb((reading ?? writing).db, writer, findShortage), reader, aside, close };
}
