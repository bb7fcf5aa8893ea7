import { Failure } from '../../domain/failure.ts';
import {
  type DoorKind,
  type DoorName,
  type JobName,
  type MailState,
  toCut,
  toDoorLabel,
} from '../../domain/incoming.ts';
import { type Instant, toInstant } from '../../domain/instant.ts';
import type { Db, Queries } from '../engine/database.ts';
import type { Tables } from '../tables.ts';
import { readClockMs } from '../work/clock.ts';

const MAX_ERROR_CHARS = 500;
const MAX_CHECKPOINT_CHARS = 4_000;
/** A door that repeats itself is noted after this time only. */
const REPEAT_MS = 60_000;

/** What the database did not take, for the pages of the same process. */
const unwritten = new WeakMap<Db, Map<string, string>>();

export async function noteDoor(db: Db, door: DoorName | JobName, error?: string): Promise<void> {
  const faults = unwritten.get(db) ?? new Map<string, string>();
  unwritten.set(db, faults);
  try {
    await writeState(db, door, error);
    faults.delete(door);
  } catch (fault) {
    faults.set(door, error ?? toWriteFault(fault));
    throw fault;
  }
}

async function writeState(db: Db, door: DoorName | JobName, error?: string): Promise<void> {
  const nowMs = await readClockMs(db);
  const at = toInstant(new Date(nowMs));
  const last_error = error === undefined ? null : toCut(error, MAX_ERROR_CHARS);
  const known = await selectDoors(db).where('door', '=', door).executeTakeFirst();
  // Of jobs only faults are asked for.
  if (last_error === null && !known?.last_error && door.startsWith('job:')) return;
  const since = error === undefined ? known?.worked_at : known?.last_error_at;
  const isSame = known?.last_error === last_error && since != null;
  if (isSame && nowMs - Date.parse(since) < REPEAT_MS) return;
  const noted =
    error === undefined ? { worked_at: at, last_error } : { last_error, last_error_at: at };
  await updateState(db, door, noted);
}

async function updateState(db: Db, door: DoorName | JobName, state: Partial<Tables['door_state']>) {
  await db.write((tx) =>
    tx
      .insertInto('door_state')
      .values({ door, ...state })
      .onConflict((oc) => oc.column('door').doUpdateSet(state))
      .execute(),
  );
}

function selectDoors(db: Queries) {
  return db.selectFrom('door_state').select(['door', 'worked_at', 'last_error', 'last_error_at']);
}

export type DoorState = Awaited<ReturnType<typeof listDoors>>[number];

/** A door that runs notes every few minutes that it works, or that it fails. */
const SILENT_AFTER_MS = 15 * 60_000;
const SILENT =
  'it has said nothing for a while: no process has it open, or the database cannot be written';

/** The doors with what keeps each from working (`fault`). That is for operators: it names paths and servers. */
export async function listDoors(db: Db) {
  const shortage = await db.findShortage();
  const since = toInstant(new Date((await readClockMs(db)) - SILENT_AFTER_MS));
  const doors = selectDoors(db)
    .where('door', 'not like', 'job:%')
    .$narrowType<{ door: DoorName }>();
  const states = await doors.orderBy('door').execute();
  return states.map(({ door, worked_at, last_error, last_error_at }) => {
    const isSilent = (worked_at ?? '') < since && (last_error_at ?? '') < since;
    const noted = unwritten.get(db)?.get(door) ?? last_error;
    return { door, worked_at, fault: shortage ?? noted ?? (isSilent ? SILENT : null) };
  });
}

/** A job that fails says so each hour at least. One that says nothing is not configured any more. */
const JOB_SILENT_AFTER_MS = 2 * 3_600_000;

/** Why jobs fail, by their names. For operators: it names paths. */
export async function listFailingJobs(db: Db): Promise<ReadonlyMap<string, string>> {
  const since = toInstant(new Date((await readClockMs(db)) - JOB_SILENT_AFTER_MS));
  const jobs = selectDoors(db).where('door', 'like', 'job:%').where('last_error', 'is not', null);
  const failing = await jobs.where('last_error_at', '>=', since).execute();
  return new Map(failing.map(({ door, last_error }) => [door.slice(4), `${last_error}`]));
}

/** Whether doors fail, for programs that may not see more. One that fails stands for all of its label. */
export async function readFailing(db: Db): Promise<ReadonlyMap<string, boolean>> {
  const doors = Map.groupBy(await listDoors(db), ({ door }) => toDoorLabel(door));
  return new Map(
    [...doors].map(([label, some]) => [label, some.some(({ fault }) => fault !== null)]),
  );
}

const toKind = ({ door }: DoorState) => door.split(':', 1)[0] as DoorKind;

/** Writes a row and deletes it, or when it does so often, no row. Returns why the database cannot be written. */
export async function findWriteFault(db: Db, isOften = false): Promise<string | undefined> {
  const door = 'job:';
  try {
    await db.write(async (tx) => {
      if (!isOften) await tx.insertInto('door_state').values({ door }).execute();
      await tx.deleteFrom('door_state').where('door', '=', door).execute();
    });
    return undefined;
  } catch (error) {
    return toWriteFault(error);
  }
}

const toWriteFault = (error: unknown): string =>
  `the database cannot be written: ${error instanceof Error ? error.message : error}`;

/** Deletes the state of a door that is not configured any more. Throws `not_found`. */
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
  const state = db.selectFrom('door_state').select('checkpoint').where('door', '=', door);
  return (await state.executeTakeFirst())?.checkpoint ?? undefined;
}

export async function updateCheckpoint(db: Db, door: DoorName, checkpoint: string): Promise<void> {
  if (checkpoint.length > MAX_CHECKPOINT_CHARS)
    throw new Failure('limit_reached', `The checkpoint of ${door} is too long.`);
  await updateState(db, door, { checkpoint });
}

export type InboxOverview = Awaited<ReturnType<typeof readInboxOverview>>;
export type DoorOverview = InboxOverview['doors'][number];

/** What people see who may not see what came in for others: when a door last worked that does not work now, but not why. */
export async function readInboxOverview(db: Db) {
  const toOverview = async ([kind, some]: [DoorKind, DoorState[]]) => {
    const failing = some.find(({ fault }) => fault !== null);
    const lasts = await Promise.all(some.map(({ door }) => findLastMailAt(db, door)));
    const lastMailAt =
      lasts
        .filter((at) => at !== null)
        .sort()
        .at(-1) ?? null;
    return { kind, lastMailAt, failing: failing && { workedAt: failing.worked_at } };
  };
  const byKind = Map.groupBy(await listDoors(db), toKind);
  const doors = await Promise.all([...byKind].map(toOverview));
  return { doors, ...(await countUnread(db)) };
}

async function findLastMailAt(db: Queries, door: DoorName): Promise<Instant | null> {
  const mails = db.selectFrom('inbox_mail').select('received_at').where('door', '=', door);
  const last = await mails.orderBy('seq', 'desc').limit(1).executeTakeFirst();
  return last?.received_at ?? null;
}

/** More mails than this are not counted: the page needs no exact number. */
const MAX_COUNTED = 10_000;

/** Counts mails that are to be read, and that cannot be read. */
async function countUnread(db: Queries) {
  const mails = db.selectFrom('inbox_mail').select('state');
  const unread = mails.where('state', 'in', ['waiting', 'stuck']).limit(MAX_COUNTED);
  const rows = await db
    .selectFrom(unread.as('unread'))
    .select((eb) => ['state', eb.fn.countAll<number>().as('mails')])
    .groupBy('state')
    .execute();
  const count = (state: MailState) => rows.find((row) => row.state === state)?.mails ?? 0;
  return { waiting: count('waiting'), stuck: count('stuck') };
}
