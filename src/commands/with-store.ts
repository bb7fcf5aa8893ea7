import { existsSync } from 'node:fs';
import { type Config, readConfig } from '../config/config.ts';
import { isPostgresUrl } from '../domain/database-address.ts';
import { toDatabaseError } from '../store/engine/database-error.ts';
import { openStore, type Store } from '../store/engine/open.ts';
import { findLooseMode } from '../store/engine/sqlite/database-file.ts';
import { hint, type OutputOptions, tell } from './output/output.ts';

/**
 * Opens the configured database, runs the work, and closes it. A database that is not there is an error: only
 * `withNewStore` makes one, so that a wrong path does not look like an empty product.
 */
export async function withStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const { database, databaseOptions } = readConfig(process.env);
  const store = await openStore(database, { ...databaseOptions, mustExist: true });
  return await run(database, store, work);
}

/** The same for a command that begins with an empty database: it is made when it is not there. */
export async function withNewStore<T>(
  options: OutputOptions,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const { database, databaseOptions } = readConfig(process.env);
  const isNew = !isPostgresUrl(database) && !existsSync(database);
  const store = await openStore(database, databaseOptions);
  if (isNew) hint(`A new database was made: ${database}`, options);
  return await run(database, store, work);
}

async function run<T>(
  database: string,
  store: Store,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  warnOfLooseMode(database, (text) => tell(`Warning: ${text}`));
  try {
    return await work(store);
  } catch (error) {
    throw toDatabaseError(database, error);
  } finally {
    await store.close();
  }
}

/** Other users of the machine must not read reports, addresses and hashes of passwords. */
export function warnOfLooseMode(database: string, warn: (text: string) => void): void {
  const mode = isPostgresUrl(database) ? undefined : findLooseMode(database);
  if (mode !== undefined)
    warn(`Other users can access ${database} (mode ${mode}). To end that: chmod 600 ${database}`);
}

/** The same for the key of second factors as well. A configured one may be readable for the server's group. */
export function warnOfLooseFiles(
  { database, secretsKeyFile: file }: Pick<Config, 'database' | 'secretsKeyFile'>,
  warn: (text: string) => void,
): void {
  warnOfLooseMode(database, warn);
  const mode = file && findLooseMode(file.path, !file.isMade);
  if (file === undefined || mode === undefined) return;
  const wanted = file.isMade ? '600' : '640';
  warn(
    `Other users can access ${file.path} (mode ${mode}). To end that: chmod ${wanted} ${file.path}`,
  );
}
