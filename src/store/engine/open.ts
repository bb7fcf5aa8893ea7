import { isPostgresUrl } from '../../domain/database-address.ts';
import { POSTGRES } from './postgres/engine.ts';
import { SQLITE } from './sqlite/engine.ts';
import type { Engine, Store, StoreOptions } from './store.ts';

export type { Store, StoreOptions } from './store.ts';

const ENGINES = [POSTGRES, SQLITE];

/** The engine of a database: PostgreSQL for a URL, SQLite for a path. */
function engineOf(database: string): Engine {
  return isPostgresUrl(database) ? POSTGRES : SQLITE;
}

/** Opens a database and migrates it. Throws a Failure that says what to do when the database cannot be used. */
export function openStore(database: string, options: StoreOptions = {}): Promise<Store> {
  return engineOf(database).open(database, options);
}

/**
 * The error that says which database cannot be used, why, and what to do about it. An error that is not the
 * engine's is returned as it is.
 */
export function toDatabaseError(database: string, error: unknown): unknown {
  return engineOf(database).toError(database, error);
}

/** Whether an error is that of a database server or of the connection to it. */
export function isOfConnection(error: unknown): boolean {
  return ENGINES.some((engine) => engine.isOfConnection(error));
}

/**
 * Whether an error is about stored values, so that another document would not meet it. All others are the database's:
 * no space, no access, busy.
 */
export function isOfValues(error: unknown): boolean {
  const code = String((error as { code?: string } | undefined)?.code);
  return ENGINES.some(({ valueErrors }) => valueErrors.test(code));
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
