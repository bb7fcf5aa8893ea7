import type { Db } from './database.ts';
import { dialectOf } from './dialect.ts';

/** How many pages one transaction gives back. */
const PAGES_AT_ONCE = 500;

/**
 * Makes the file of a SQLite database smaller, after much was deleted, in bounded transactions. A twentieth of it stays
 * free for what comes in. Returns the bytes that were given back.
 */
export async function giveBackSpace(db: Db, mayGoOn: () => Promise<boolean> = async () => true) {
  let all = 0;
  while (await mayGoOn()) {
    const bytes = await db.write((tx) => dialectOf(tx).giveBackPages(tx, PAGES_AT_ONCE));
    if (bytes <= 0) break;
    all += bytes;
  }
  return all;
}
