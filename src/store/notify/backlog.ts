import { sql } from 'kysely';
import type { Db } from '../engine/database.ts';
import { isTold } from '../events/events.ts';
import { readClockMs } from '../work/clock.ts';

/**
 * What is to be done, for monitors. Ages are by the database's clock; 0 when nothing waits. Reads indexes alone, of as many
 * rows as there are open alerts, unread mails and receivers that wait.
 */
export async function readBacklog(db: Db) {
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
    /** How long the delivery that is due has waited for a process, or for a receiver that fails. */
    oldestDeliveryMs: since(due?.ms),
    /** How long ago all alerts were evaluated; undefined when they never were. */
    oldestEvaluationMs: evaluatedAt === undefined ? undefined : since(Date.parse(evaluatedAt)),
  };
}

async function listOpenAlerts(db: Db) {
  const rows = await db
    .selectFrom('alert')
    .select((eb) => ['type', eb.fn.countAll<number>().as('alerts')])
    .where('resolved_at', 'is', null)
    .groupBy('type')
    .execute();
  return rows.map(({ type, alerts }) => [type, alerts] as const);
}

async function readUnread(db: Db) {
  const rows = await db
    .selectFrom('inbox_mail')
    // The sum makes SQLite read the index of states, not all mails from the first on.
    .select((eb) => [
      'state',
      eb.fn.countAll<number>().as('mails'),
      sql<number>`min(seq + 0)`.as('first'),
    ])
    .where('state', 'in', ['waiting', 'stuck'])
    .groupBy('state')
    .execute();
  const { waiting, stuck } = Object.fromEntries(rows.map((row) => [row.state, row]));
  const received = db.selectFrom('inbox_mail').select('received_at');
  const oldest = await received.where('seq', '=', waiting?.first ?? 0).executeTakeFirst();
  return {
    mails: { waiting: waiting?.mails ?? 0, stuck: stuck?.mails ?? 0 },
    receivedAtMs: oldest && Date.parse(oldest.received_at),
  };
}

async function findEvaluatedAt(db: Db): Promise<string | undefined> {
  const oldest = db.selectFrom('lease').select(({ fn }) => fn.min('ran_at').as('at'));
  return (await oldest.where('name', 'like', 'alerts:%').executeTakeFirst())?.at ?? undefined;
}
