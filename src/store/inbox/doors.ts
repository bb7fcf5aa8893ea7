import { Failure } from '../../domain/failure.ts';
import { type Instant, toInstant } from '../../domain/instant.ts';
import type { Db, Queries } from '../engine/database.ts';
import { readClockMs, readNow } from '../work/clock.ts';
import type { MailState } from './incoming.ts';
import { type DoorKind, type DoorName, toCut } from './incoming.ts';

const MAX_ERROR_CHARS = 500;
const MAX_CHECKPOINT_CHARS = 4_000;
/** A door that repeats itself is noted after this time only. */
const REPEAT_MS = 60_000;

/** Without an error, the door works. */
export async function noteDoor(db: Db, door: DoorName, error?: string): Promise<void> {
  const nowMs = await readClockMs(db);
  const at = toInstant(new Date(nowMs));
  const text = error === undefined ? undefined : toCut(error, MAX_ERROR_CHARS);
  const known = await selectDoors(db).where('door', '=', door).executeTakeFirst();
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

function selectDoors(db: Queries) {
  return db.selectFrom('door_state').select(['door', 'noted_at', 'last_error', 'last_error_at']);
}

/** For operators: the errors name paths and servers. */
export function listDoors(db: Queries) {
  return selectDoors(db).orderBy('door').execute();
}

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
  const at = await readNow(db);
  await db.write((tx) =>
    tx
      .insertInto('door_state')
      .values({ door, noted_at: at, checkpoint })
      .onConflict((oc) => oc.column('door').doUpdateSet({ checkpoint }))
      .execute(),
  );
}

/** For people who may not see what came in for others. */
export interface DoorOverview {
  readonly kind: DoorKind;
  readonly lastMailAt: Instant | null;
  /** When a door that does not work now last worked. Why is for operators: it names paths and servers. */
  readonly failsSince: Instant | null;
}

export interface InboxOverview {
  readonly doors: readonly DoorOverview[];
  /** Mails that are to be read, and that cannot be read. */
  readonly waiting: number;
  readonly stuck: number;
}

export async function readInboxOverview(db: Queries): Promise<InboxOverview> {
  const states = await listOpenDoors(db);
  const byKind = Map.groupBy(states, ({ door }) => door.split(':', 1)[0] as DoorKind);
  const doors: DoorOverview[] = [];
  for (const [kind, some] of byKind) {
    const failing = some.find(({ last_error }) => last_error !== null);
    const lasts = await Promise.all(some.map(({ door }) => findLastMailAt(db, door)));
    const known = lasts.filter((at) => at !== null);
    doors.push({
      kind,
      lastMailAt: known.toSorted().at(-1) ?? null,
      failsSince: failing?.noted_at ?? null,
    });
  }
  return { doors, ...(await countUnread(db)) };
}

/** A door that runs notes every few minutes that it works, or that it fails. */
const CLOSED_AFTER_MS = 24 * 3_600_000;

/** Doors that have noted nothing lately are not configured any more. */
async function listOpenDoors(db: Queries) {
  const since = toInstant(new Date((await readClockMs(db)) - CLOSED_AFTER_MS));
  return await selectDoors(db)
    .where(({ eb, or }) => or([eb('noted_at', '>=', since), eb('last_error_at', '>=', since)]))
    .orderBy('door')
    .execute();
}

async function findLastMailAt(db: Queries, door: DoorName): Promise<Instant | null> {
  const last = await db
    .selectFrom('inbox_mail')
    .select('received_at')
    .where('door', '=', door)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return last?.received_at ?? null;
}

/** More mails than this are not counted: the page needs no exact number. */
const MAX_COUNTED = 10_000;

async function countUnread(db: Queries): Promise<Pick<InboxOverview, 'waiting' | 'stuck'>> {
  const unread = db
    .selectFrom('inbox_mail')
    .select('state')
    .where('state', 'in', ['waiting', 'stuck'])
    .limit(MAX_COUNTED);
  const rows = await db
    .with('unread', () => unread)
    .selectFrom('unread')
    .select((eb) => ['state', eb.fn.countAll<number>().as('mails')])
    .groupBy('state')
    .execute();
  const count = (state: MailState) => rows.find((row) => row.state === state)?.mails ?? 0;
  return { waiting: count('waiting'), stuck: count('stuck') };
}
