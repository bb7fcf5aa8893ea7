import { sql } from 'kysely';
import { type Instant, toInstant } from '../../domain/instant.ts';
import type { Queries } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';

/** Reads the database's clock, in milliseconds since 1970: the processes may be on machines whose clocks differ. */
export async function readClockMs(db: Queries): Promise<number> {
  const clock = sql<{ now: number }>`(select ${dialectOf(db).clockMs} as now)`.as('clock');
  const { now } = await db.selectFrom(clock).select('clock.now').executeTakeFirstOrThrow();
  return now;
}

/** Reads the database's clock in whole seconds. */
export async function readNow(db: Queries): Promise<Instant> {
  return toInstant(new Date(await readClockMs(db)));
}
