import { existsSync } from 'node:fs';
import { readConfig } from '../config/config.ts';
import { findDatabaseFile } from '../domain/database-address.ts';
import { findAccountId } from '../store/domains/find-by-name.ts';
import type { Db } from '../store/engine/database.ts';
import { openStore, toDatabaseError } from '../store/engine/open.ts';
import type { Store } from '../store/engine/store.ts';
import { warnOfLooseFiles, warnOfOwner } from './loose-files.ts';
import { hint, type OutputOptions, tell } from './output/output.ts';

/** A missing database is an error, so that a wrong path does not look empty: only `withNewStore` makes one. */
export async function withStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const { database, databaseOptions } = readConfig(process.env);
  const store = await openStore(database, { ...databaseOptions, mustExist: true });
  return await run(database, store, work);
}

/** `account` is an id or a name. */
export function withAccount<T>(
  account: string,
  work: (db: Db, accountId: string) => Promise<T>,
): Promise<T> {
  return withStore(async ({ db }) => work(db, await findAccountId(db, account)));
}

/** How long a command that nobody watches goes on trying while the database is away. */
const AWAY_MS = 120_000;

/** Makes a missing database: the command may begin with an empty one. `isPatient`: it waits for one that is away. */
export async function withNewStore<T>(
  { isPatient = false, ...options }: OutputOptions & { readonly isPatient?: boolean },
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const { database, databaseOptions } = readConfig(process.env);
  const file = findDatabaseFile(database);
  const isNew = file !== undefined && !existsSync(file);
  const tellAway = (error: Error, leftMs: number) => {
    const { message } = toDatabaseError(database, error) as Error;
    hint(`${message} Trying again for ${Math.round(leftMs / 1000)} s.`, options);
  };
  const patience = { forMs: AWAY_MS, tell: tellAway };
  const store = await openStore(
    database,
    isPatient ? { ...databaseOptions, patience } : databaseOptions,
  );
  if (isNew) {
    hint(`A new database was made: ${database}`, options);
    warnOfOwner(file, (text) => tell(`Warning: ${text}`));
  }
  return await run(database, store, work);
}

async function run<T>(
  database: string,
  store: Store,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  warnOfLooseFiles({ database }, (text) => tell(`Warning: ${text}`));
  try {
    return await work(store);
  } catch (error) {
    throw toDatabaseError(database, error);
  } finally {
    await store.close();
  }
}
