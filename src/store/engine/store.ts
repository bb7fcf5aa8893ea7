import type { AsideReads } from './aside.ts';
import type { Db, Queries } from './database.ts';
import type { MigrateOptions } from './pending-steps.ts';
import type { Patience } from './postgres/away.ts';
import type { Reader } from './reader.ts';
import type { MeasureFree } from './space.ts';

/** The open database. `db` runs any query and every change; `reader` runs the frequent queries, prepared. */
export interface Store {
  readonly db: Db;
  readonly reader: Reader;
  /** Runs reads that compute for long. */
  readonly aside: AsideReads;
  /** Runs the query that tells whether the database responds. */
  readonly readiness: Queries;
  /** Rejects new changes, waits for those in progress, and closes every connection. */
  close(): Promise<void>;
}

/** How a database is opened. What concerns connections is for PostgreSQL only, what concerns the disk for SQLite. */
export interface StoreOptions extends MigrateOptions {
  /** A database that is not there is an error; otherwise it is made. */
  readonly mustExist?: boolean;
  /** Whether reads that compute for long have a thread, because the process answers requests meanwhile. */
  readonly hasThread?: boolean;
  /** SQLite: none is made while this folder has a backup of one. */
  readonly backupFolder?: string | undefined;
  /** PostgreSQL: what names the database, for errors when it is opened; PLUMBLINE_DATABASE without it. */
  readonly variable?: string | undefined;
  /** The password when the URL has none, asked for at each new connection. */
  readonly password?: (() => string) | undefined;
  /** The URL of a replica that pages are read from. */
  readonly replica?: string | undefined;
  readonly maxConnections?: number | undefined;
  /** PostgreSQL: how long changes, and opening, are tried again while the database is away. */
  readonly patience?: Patience | undefined;
  /** SQLite: below so much free space nothing is taken in from outside. */
  readonly minFreeBytes?: number | undefined;
  /** Tests have disks of their own. */
  readonly measureFree?: MeasureFree | undefined;
  /** Gets what went wrong with a connection that no query was using. */
  readonly warn?: ((error: Error) => void) | undefined;
}
