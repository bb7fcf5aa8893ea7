import { type Instant, toInstant } from '../../domain/instant.ts';
import type { Queries } from '../engine/database.ts';
import { readClockMs } from '../work/clock.ts';
import type { DoorKind, DoorName } from './incoming.ts';
import type { MailState } from './tables.ts';

/** The doors of one kind, for people who may not see what came in for others. */
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

/** How reports come in, in all: doors that have said something of themselves, and what waits in the inbox. */
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

/** Doors that have noted something lately: others are not configured any more. */
async function listOpenDoors(db: Queries) {
  const since = toInstant(new Date((await readClockMs(db)) - CLOSED_AFTER_MS));
  return await db
    .selectFrom('door_state')
    .select(['door', 'noted_at', 'last_error'])
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
    .where('state', 'in', ['waiting', 'claimed', 'stuck'])
    .limit(MAX_COUNTED);
  const rows = await db
    .with('unread', () => unread)
    .selectFrom('unread')
    .select((eb) => ['state', eb.fn.countAll<number>().as('mails')])
    .groupBy('state')
    .execute();
  const count = (state: MailState) => rows.find((row) => row.state === state)?.mails ?? 0;
  return { waiting: count('waiting') + count('claimed'), stuck: count('stuck') };
}
