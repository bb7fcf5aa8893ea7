import { sql } from 'kysely';
import type { Queries } from '../engine/database.ts';

/* Who was told of alerts. Events are kept for EVENT_DAYS, and written only where somebody receives them. */

const CHANNEL = sql<
  'mail' | 'webhook'
>`case when event.type like 'mail.%' then 'mail' else 'webhook' end`;
/** `pending` has no delivery yet, and `unwanted` was not sent: the person left the domain out, or it waited for too long. */
const STATE = sql<'pending' | 'unwanted' | 'waiting' | 'delivered' | 'failed'>`case
  when delivery.state is null then 'pending'
  when delivery.state = 'delivered' and delivery.status is null then 'unwanted'
  else delivery.state end`;

function selectTold(db: Queries, accountId: string, alertIds: readonly string[]) {
  return db
    .selectFrom('event')
    .leftJoin('delivery', 'event_seq', 'event.seq')
    .where('event.account_id', '=', accountId)
    .where('alert_id', 'in', alertIds);
}

export type ToldCount = Awaited<ReturnType<typeof listCounts>>[number];

function listCounts(db: Queries, accountId: string, alertIds: readonly string[]) {
  return selectTold(db, accountId, alertIds)
    .select(['alert_id', CHANNEL.as('channel'), STATE.as('state')])
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .groupBy(['alert_id', CHANNEL, STATE])
    .execute();
}

/** How many mails and calls became what, by the ids of alerts. */
export async function countTold(
  db: Queries,
  accountId: string,
  alerts: readonly { readonly id: string }[],
): Promise<ReadonlyMap<string, readonly ToldCount[]>> {
  if (alerts.length === 0) return new Map();
  const counts = await listCounts(
    db,
    accountId,
    alerts.map(({ id }) => id),
  );
  return Map.groupBy(counts, ({ alert_id }) => alert_id ?? '');
}

/** Many more than an account has people and endpoints. */
const MAX_TOLD = 500;

export type Told = Awaited<ReturnType<typeof listTold>>[number];

/** Each who was told of an alert, the latest first. Whoever was deleted since has no address. */
export function listTold(db: Queries, accountId: string, alertId: string) {
  return selectTold(db, accountId, [alertId])
    .leftJoin('person', 'person.id', 'receiver_id')
    .leftJoin('webhook', 'webhook.id', 'receiver_id')
    .select(['event.type', CHANNEL.as('channel'), STATE.as('state'), 'tried_at', 'tries', 'answer'])
    .select(['webhook.id as webhookId', 'email', 'url'])
    .orderBy('event.seq', 'desc')
    .limit(MAX_TOLD)
    .execute();
}
