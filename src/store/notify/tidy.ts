import { KEPT_DAYS } from '../../domain/events.ts';
import { later } from '../../domain/instant.ts';
import type { Db } from '../engine/database.ts';
import { readNow } from '../work/clock.ts';
import { deleteEvents } from './events.ts';

const EVENTS_AT_ONCE = 200;
const DAY_MS = 86_400_000;

/** Deletes old events with their deliveries, in bounded transactions. Returns whether it came to the end. */
export async function deleteOldEvents(
  db: Db,
  mayGoOn: () => Promise<boolean> = async () => true,
): Promise<boolean> {
  const before = later(await readNow(db), -KEPT_DAYS * DAY_MS);
  while (await mayGoOn()) {
    const first = db.selectFrom('event').select(['seq', 'at']).orderBy('seq');
    const rows = await first.limit(EVENTS_AT_ONCE).execute();
    const old = rows.filter(({ at }) => at < before).map(({ seq }) => seq);
    if (old.length === 0) return true;
    await db.write((tx) => deleteEvents(tx, old));
  }
  return false;
}
