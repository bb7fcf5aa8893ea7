import { sql } from 'kysely';
import type { Db } from '../engine/database.ts';
import { isTold } from '../events/events.ts';
import { readClockMs } from '../work/clock.ts';

/** What is to be done, for monitors. Ages are by the database's clock; 0 when nothing waits. */
export interface Backlog {
  /** By their type. */
  readonly openAlerts: readonly (readonly [type: string, alerts: number])[];
  readonly mails: Readonly<Record<'waiting' | 'stuck', number>>;
  readonly oldestMailMs: number;
  /** For how long the delivery that is due has waited for a process, or for a receiver that fails. */
  readonly oldestDeliveryMs: number;
  /** Since the domains whose alerts were evaluated the longest ago were; undefined when they never were. */
  readonly oldestEvaluationMs: number | undefined;
}

/** Reads indexes alone, of as many rows as there are open alerts, unread mails and receivers that wait. */
export async function readBacklog(db: Db): Promise<Backlog> {
  const nowMs = await readClockMs(db);
  const since = (ms: number | null | undefined) => Math.max(0, nowMs - (ms ?? nowMs));
  const unread = await readUnread(db);
  const due = await db
    .selectFrom('receiver')
    .select((eb) => eb.fn.min('due_at_ms').as('ms'))
    .where('due_at_ms', 'is not', null)
    .where(isTold)
    .executeTakeFirst();
  const evaluatedAt = await findEvaluatedAt(db);
  return {
    openAlerts: await listOpenAlerts(db),
    mails: unread.mails,
    oldestMailMs: since(unread.receivedAtMs),
    oldestDeliveryMs: since(due?.ms),
    oldestEvaluationMs: evaluatedAt === undefined ? undefined : since(Date.parse(evaluatedAt)),
  };
}

async function listOpenAlerts(db: Db): Promise<Backlog['openAlerts']> {
  const rows = await db
    .selectFrom('alert')
    .select((eb) => ['type', eb.fn.countAll<number>().as('alerts')])
    .where('resolved_at', 'is', null)
    .groupBy('type')
    .execute();
  return rows.map(({ type, alerts }) => [type, alerts]);
}

async function readUnread(db: Db) {
  const rows = await db
    .selectFrom('inbox_mail')
    // Behind a sum SQLite reads the index of states, not all mails from the first on.
    .select((eb) => [
      'state',
      eb.fn.countAll<number>().as('mails'),
      sql<number>`min(seq + 0)`.as('first'),
    ])
    .where('state', 'in', ['waiting', 'stuck'])
    .groupBy('state')
    .execute();
  const find = (state: 'waiting' | 'stuck') => rows.find((row) => row.state === state);
  const oldest = await db
    .selectFrom('inbox_mail')
    .select('received_at')
    .where('seq', '=', find('waiting')?.first ?? 0)
    .executeTakeFirst();
  return {
    mails: { waiting: find('waiting')?.mails ?? 0, stuck: find('stuck')?.mails ?? 0 },
    receivedAtMs: oldest && Date.parse(oldest.received_at),
  };
}

async function findEvaluatedAt(db: Db): Promise<string | undefined> {
  const row = await db
    .selectFrom('lease')
    .select((eb) => eb.fn.min('ran_at').as('at'))
    .where('name', 'like', 'alerts:%')
    .executeTakeFirst();
  return row?.at ?? undefined;
}
