import { sql } from 'kysely';
import type { Queries } from '../engine/database.ts';
import { wordsOf } from '../engine/words.ts';

/** Reads a clock that all processes on one database share, in milliseconds since 1970. */
export type ReadClock = (db: Queries) => Promise<number>;

/** The database's clock. The processes may be on machines whose clocks differ. */
export const readClockMs: ReadClock = async (db) => {
  const clock = sql<{ now: number }>`(select ${wordsOf(db).clockMs} as now)`.as('clock');
  const { now } = await db.selectFrom(clock).select('clock.now').executeTakeFirstOrThrow();
  return Number(now);
};
