import { sql } from 'kysely';
import type { Queries } from '../connection/database.ts';

/**
 * The database's clock, in milliseconds since 1970, for functions that have no reader. In whole seconds on SQLite;
 * in a transaction on PostgreSQL, the time of its beginning.
 */
export async function readClockMs(db: Queries): Promise<number> {
  const clock = sql<{ now: string | Date }>`(select current_timestamp as now)`.as('clock');
  const { now } = await db.selectFrom(clock).select('clock.now').executeTakeFirstOrThrow();
  return toMs(now);
}

/** SQLite gives text without a time zone, which is UTC. */
function toMs(now: string | Date): number {
  if (now instanceof Date) return now.getTime();
  return Date.parse(/\d\d:\d\d:\d\d$/.test(now) ? `${now}Z` : now);
}
