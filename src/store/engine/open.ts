import { isPostgresUrl } from '../../domain/database-address.ts';
import type { Db } from './database.ts';
import type { Reader } from './reader.ts';

/** The open database. `db` runs any query and every change; `reader` runs the frequent queries, prepared. */
export interface Store {
  readonly db: Db;
  readonly reader: Reader;
  /** Rejects new changes, waits for those in progress, and closes every connection. */
  close(): Promise<void>;
}

/** How a database is opened. What concerns connections is for PostgreSQL only. */
export interface StoreOptions {
  /** A database that is not there is an error; otherwise it is made. */
  readonly mustExist?: boolean;
  /** The password when the URL has none, asked for at each new connection. */
  readonly password?: (() => string) | undefined;
  /** The URL of a replica that pages are read from. */
  readonly replica?: string | undefined;
  /** The largest number of connections of this process. */
  readonly maxConnections?: number | undefined;
  /** Gets what went wrong with a connection that no query was using. */
  readonly warn?: ((error: Error) => void) | undefined;
}

/**
 * Opens a database and migrates it: a PostgreSQL database by its URL, a SQLite database by its path. Only the
 * engine that is used is loaded. Throws a Failure that says what to do when the database cannot be used.
 */
export async function openStore(database: string, options: StoreOptions = {}): Promise<Store> {
  if (isPostgresUrl(database)) {
    const { openPostgres } = await import('./postgres/open.ts');
    return await openPostgres(database, options);
  }
  const { openSqlite } = await import('./sqlite/open.ts');
  return await openSqlite(database, options);
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
