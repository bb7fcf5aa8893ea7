import { sql } from 'kysely';
import type { Day, Instant } from '../../domain/instant.ts';
import type { Db } from '../engine/database.ts';
import { updatePersonMail } from '../people/person-mail.ts';

export type Mailbox = NonNullable<Awaited<ReturnType<typeof findMailbox>>>;

/** The person behind a receiver, and how their mail goes; undefined when they have been deleted. */
export async function findMailbox(db: Db, personId: string) {
  const found = await db
    .selectFrom('person_mail')
    .innerJoin('person', 'person.id', 'person_id')
    .innerJoin('account', 'account.id', 'person.account_id')
    .select(['person_id as personId', 'email', 'account_id as accountId', 'name as accountName'])
    .select(['alerts', 'summary', 'link_key as linkKey', 'refusals'])
    .select(['sent_on as sentOn', 'sent', 'burst_since as burstSince', 'burst'])
    .where('person_id', '=', personId)
    .executeTakeFirst();
  if (found === undefined) return undefined;
  const leftOut = await db
    .selectFrom('mail_left_out')
    .select('domain_id')
    .where('person_id', '=', personId)
    .execute();
  return { ...found, leftOut: new Set(leftOut.map(({ domain_id }) => domain_id)) };
}

export async function findDomainNames(
  db: Db,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('domain')
    .select(['id', 'name'])
    .where('id', 'in', ids)
    .execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** How many mails about alerts a person has got. */
export interface Pace {
  readonly sentOn: Day | null;
  readonly sent: number;
  readonly burstSince: Instant | null;
  readonly burst: number;
}

/** After a mail: when the process dies in between, it is not counted. */
export async function updatePace(
  db: Db,
  personId: string,
  { sentOn: sent_on, sent, burstSince: burst_since, burst }: Pace,
): Promise<void> {
  const pace = { sent_on, sent, burst_since, burst };
  await db.write((tx) =>
    tx.updateTable('person_mail').set(pace).where('person_id', '=', personId).execute(),
  );
}

/** The server has refused the address for good: shown at the person, and after MAX_REFUSALS it gets no more mail. */
export async function recordRefusal(db: Db, personId: string, refusal: string): Promise<void> {
  const refusals = sql<number>`refusals + 1`;
  await updatePersonMail(db, personId, { refusals, refusal });
}
