import { Failure } from '../../domain/failure.ts';
import type { MailState } from '../../domain/incoming.ts';
import { type DoorKind, type DoorName, toCut } from '../../domain/incoming.ts';
import { type Instant, toInstant } from '../../domain/instant.ts';
import type { Db, Queries } from '../engine/database.ts';
import { readClockMs } from '../work/clock.ts';

const MAX_ERROR_CHARS = 500;
const MAX_CHECKPOINT_CHARS = 4_000;
/** A door that repeats itself is noted after this time only. */
const REPEAT_MS = 60_000;

/** What the database did not take, for the pages of the same process. */
const unwritten = new WeakMap<Db, Map<DoorName, string>>();

/** Without an error, the door works. */
export async function noteDoor(db: Db, door: DoorName, error?: string): Promise<void> {
  const faults = unwritten.get(db) ?? new Map<DoorName, string>();
  unwritten.set(db, faults);
  try {
    await writeState(db, door, error);
    faults.delete(door);
  } catch (fault) {
    faults.set(door, error ?? toWriteFault(fault));
    throw fault;
  }
}

async function writeState(db: Db, door: DoorName, error?: string): Promise<void> {
  const nowMs = await readClockMs(db);
  const at = toInstant(new Date(nowMs));
  const last_error = error === undefined ? null : toCut(error, MAX_ERROR_CHARS);
  const known = await selectDoors(db).where('door', '=', door).executeTakeFirst();
  const since = error === undefined ? known?.worked_at : known?.last_error_at;
  const isSame = known?.last_error === last_error && since != null;
  if (isSame && nowMs - Date.parse(since) < REPEAT_MS) return;
  const noted =
    error === undefined ? { worked_at: at, last_error } : { last_error, last_error_at: at };
  await db.write((tx) =>
    tx
      .insertInto('door_state')
      .values({ door, ...noted })
      .onConflict((oc) => oc.column('door').doUpdateSet(noted))
      .execute(),
  );
}

function selectDoors(db: Queries) {
  return db.selectFrom('door_state').select(['door', 'worked_at', 'last_error', 'last_error_at']);
}

export interface DoorState {
  readonly door: DoorName;
  /** When it last said that it works; null when it never did. */
  readonly worked_at: Instant | null;
  /** What keeps it from working. For operators: it names paths and servers. */
  readonly fault: string | null;
}

/** A door that runs notes every few minutes that it works, or that it fails. */
const SILENT_AFTER_MS = 15 * 60_000;
const SILENT =
  'it has said nothing for a while: no process has it open, or the database cannot be written';

export async function listDoors(db: Db): Promise<DoorState[]> {
  const shortage = await db.findShortage();
  const since = toInstant(new Date((await readClockMs(db)) - SILENT_AFTER_MS));
  const states = await selectDoors(db).orderBy('door').execute();
  return states.map(({ door, worked_at, last_error, last_error_at }) => {
    const isSilent = (worked_at ?? '') < since && (last_error_at ?? '') < since;
    const noted = unwritten.get(db)?.get(door) ?? last_error;
    return { door, worked_at, fault: shortage ?? noted ?? (isSilent ? SILENT : null) };
  });
}

/** For programs that may not see more: the kinds of doors of which one fails. */
export async function listFailingKinds(db: Db): Promise<DoorKind[]> {
  const failing = (await listDoors(db)).filter(({ fault }) => fault !== null);
  return [...new Set(failing.map(toKind))];
}

const toKind = ({ door }: DoorState) => door.split(':', 1)[0] as DoorKind;

/** For a process without doors. Returns why the database cannot be written, by writing without a change. */
export async function findWriteFault(db: Db): Promise<string | undefined> {
  try {
    await db.write((tx) =>
      tx
        .updateTable('door_state')
        .set((eb) => ({ door: eb.ref('door') }))
        .execute(),
    );
    return undefined;
  } catch (error) {
    return toWriteFault(error);
  }
}

const toWriteFault = (error: unknown): string =>
  `the database cannot be written: ${error instanceof Error ? error.message : error}`;

/** Of a door that is not configured any more. Throws `not_found`. */
export async function deleteDoor(db: Db, door: string): Promise<void> {
  const { numDeletedRows } = await db.write((tx) =>
    tx
      .deleteFrom('door_state')
      .where('door', '=', door as DoorName)
      .executeTakeFirst(),
  );
  if (numDeletedRows === 0n) throw new Failure('not_found', `There is no door ${door}.`);
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
  await db.write((tx) =>
    tx
      .insertInto('door_state')
      .values({ door, checkpoint })
      .onConflict((oc) => oc.column('door').doUpdateSet({ checkpoint }))
      .execute(),
  );
}

/** For people who may not see what came in for others. */
export interface DoorOverview {
  readonly kind: DoorKind;
  readonly lastMailAt: Instant | null;
  /** Of a door that does not work: when it last worked. Why is for operators: it names paths and servers. */
  readonly failing: { readonly workedAt: Instant | null } | undefined;
}

export interface InboxOverview {
  readonly doors: readonly DoorOverview[];
  /** Mails that are to be read, and that cannot be read. */
  readonly waiting: number;
  readonly stuck: number;
}

export async function readInboxOverview(db: Db): Promise<InboxOverview> {
  const byKind = Map.groupBy(await listDoors(db), toKind);
  const doors: DoorOverview[] = [];
  for (const [kind, some] of byKind) {
    const failing = some.find(({ fault }) => fault !== null);
    const lasts = await Promise.all(some.map(({ door }) => findLastMailAt(db, door)));
    const known = lasts.filter((at) => at !== null);
    doors.push({
      kind,
      lastMailAt: known.toSorted().at(-1) ?? null,
      failing: failing && { workedAt: failing.worked_at },
    });
  }
  return { doors, ...(await countUnread(db)) };
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
    .selectFrom(unread.as('unread'))
    .select((eb) => ['state', eb.fn.countAll<number>().as('mails')])
    .groupBy('state')
    .execute();
  const count = (state: MailState) => rows.find((row) => row.state === state)?.mails ?? 0;
  return { waiting: count('waiting'), stuck: count('stuck') };
}
