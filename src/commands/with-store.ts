import { readConfig } from '../config.ts';
import { openStore, type Store } from '../store/connection/open.ts';

/** Opens the configured database, runs the work, and closes it. */
export async function withStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(readConfig(process.env).database);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
