import { Failure } from '../../domain/failure.ts';
import { toInstant } from '../../domain/instant.ts';
import type { Db, Queries } from '../engine/database.ts';
import { readClockMs } from '../work/clock.ts';
import type { DoorName } from './incoming.ts';
import { toCut } from './incoming.ts';

/* What doors note about themselves, for operators and, without the errors, for the settings pages. */

const MAX_ERROR_CHARS = 500;
const MAX_CHECKPOINT_CHARS = 4_000;
/** A door that says the same again is noted after this time only. */
const REPEAT_MS = 60_000;

/** A door says that it works, or what keeps it from working. */
export async function noteDoor(db: Db, door: DoorName, error?: string): Promise<void> {
  const nowMs = await readClockMs(db);
  const at = toInstant(new Date(nowMs));
  const text = error === undefined ? undefined : toCut(error, MAX_ERROR_CHARS);
  const known = await findDoor(db, door);
  const isSame = known !== undefined && (known.last_error ?? undefined) === text;
  const since = text === undefined ? known?.noted_at : known?.last_error_at;
  if (isSame && since != null && nowMs - Date.parse(since) < REPEAT_MS) return;
  const noted =
    text === undefined
      ? { noted_at: at, last_error: null }
      : { last_error: text, last_error_at: at };
  await db.write((tx) =>
    tx
      .insertInto('door_state')
      .values({ door, noted_at: at, ...noted })
      .onConflict((oc) => oc.column('door').doUpdateSet(noted))
      .execute(),
  );
}

function findDoor(db: Db, door: DoorName) {
  return db
    .selectFrom('door_state')
    .select(['noted_at', 'last_error', 'last_error_at'])
    .where('door', '=', door)
    .executeTakeFirst();
}

/** What every door has noted, for operators: the errors name paths and servers. */
export async function listDoors(db: Queries) {
  return await db
    .selectFrom('door_state')
    .select(['door', 'noted_at', 'last_error', 'last_error_at'])
    .orderBy('door')
    .execute();
}

/** The text that a door has stored for itself. */
export async function findCheckpoint(db: Db, door: DoorName): Promise<string | undefined> {
  const row = await db
    .selectFrom('door_state')
    .select('checkpoint')
    .where('door', '=', door)
    .executeTakeFirst();
  return row?.checkpoint ?? undefined;
}

export async function updateCheckpoint(db: Db, door: DoorName, checkpoint: string): Promise<void> {
  if (checkpoint.length > MAX_CHECKPOINT_CHARS)
    throw new Failure('limit_reached', `The checkpoint of ${door} is too long.`);
  const at = toInstant(new Date(await readClockMs(db)));
  await db.write((tx) =>
    tx
      .insertInto('door_state')
      .values({ door, noted_at: at, checkpoint })
      .onConflict((oc) => oc.column('door').doUpdateSet({ checkpoint }))
      .execute(),
  );
}
