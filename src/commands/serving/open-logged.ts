import type { Logger } from 'pino';
import type { Config } from '../../config/config.ts';
import { openStore, type Store, type StoreOptions } from '../../store/engine/open.ts';

/** Opens the configured database for a process that runs on: a connection that is lost is in its log. */
export function openLogged(
  { database, databaseOptions }: Config,
  log: Logger,
  options: Pick<StoreOptions, 'mustExist'> = {},
): Promise<Store> {
  const warn = (error: Error) => log.warn({ err: error }, 'a connection to the database was lost');
  return openStore(database, { ...databaseOptions, ...options, warn });
}
