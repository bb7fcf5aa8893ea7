import { randomBytes } from 'node:crypto';
import { sql, type UpdateObject } from 'kysely';
import { parseDomainName } from '../../domain/domain-name.ts';
import { Failure } from '../../domain/failure.ts';
import {
  defaultAlertMail,
  listMailedEvents,
  MAX_LEFT_OUT,
  MAX_REFUSALS,
  parseUnsubscribeToken,
  type Subscription,
} from '../../domain/mail-choice.ts';
import type { Db, Queries, Tx } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import type { Tables } from '../tables.ts';
import type { Person } from './people.ts';

/* What mail a person gets. The person's row of `receiver` follows from it: what changes it ends with `refreshReceiver`. */

export async function insertPersonMail(
  tx: Tx,
  { id, accountId, role }: Pick<Person, 'id' | 'accountId' | 'role'>,
) {
  const person_mail = { person_id: id, alerts: defaultAlertMail(role), link_key: randomBytes(32) };
  await tx.insertInto('person_mail').values(person_mail).execute();
  const receiver = {
    id,
    account_id: accountId,
    channel: 'mail',
    event_types: '',
    enabled: 0,
  } as const;
  await tx.insertInto('receiver').values(receiver).execute();
  await refreshReceiver(tx, id);
}

export async function deletePersonMail(tx: Tx, personId: string): Promise<void> {
  await tx.deleteFrom('receiver').where('id', '=', personId).execute();
  await tx.deleteFrom('mail_left_out').where('person_id', '=', personId).execute();
  await tx.deleteFrom('person_mail').where('person_id', '=', personId).execute();
}

/** After a change of the person, or of what the person wants. Another change at the same time is waited for, and then seen. */
export async function refreshReceiver(tx: Tx, personId: string): Promise<void> {
  const receivers = tx.selectFrom('receiver').select('id').where('id', '=', personId);
  await receivers.$call(dialectOf(tx).locked).execute();
  const { role, alerts, disabled, refusals } = await tx
    .selectFrom('person_mail')
    .innerJoin('person', 'person.id', 'person_id')
    .select(['role', 'alerts', 'disabled', 'refusals'])
    .where('person_id', '=', personId)
    .executeTakeFirstOrThrow();
  const event_types = listMailedEvents(role, alerts).join(' ');
  const set = { event_types, enabled: disabled === 0 && refusals < MAX_REFUSALS ? 1 : 0 } as const;
  await tx.updateTable('receiver').set(set).where('id', '=', personId).execute();
}

/** People are told while there is a server (`isTold` in events/events.ts). Called when the jobs start. */
export async function updateMailServer(db: Db, host: string | undefined): Promise<void> {
  const known = await db.selectFrom('mail_server').select('host').execute();
  if (known.map((row) => row.host).join() === (host ?? '')) return;
  await db.write(async (tx) => {
    await tx.deleteFrom('mail_server').execute();
    if (host === undefined) return;
    const server = tx.insertInto('mail_server').values({ host });
    await server.onConflict((oc) => oc.doNothing()).execute();
  });
}

export type PersonMail = Awaited<ReturnType<typeof findPersonMail>>;

/** Throws `not_found` for a person who has been deleted. */
export async function findPersonMail(db: Queries, personId: string) {
  const row = await db
    .selectFrom('person_mail')
    .innerJoin('person', 'person.id', 'person_id')
    .innerJoin('account', 'account.id', 'person.account_id')
    .select(['person_id as personId', 'email', 'account_id as accountId', 'name as accountName'])
    .select(['alerts', 'summary', 'link_key as linkKey', 'refusals', 'refusal'])
    .select(['sent_on as sentOn', 'sent', 'others', 'keys_at as keysAt'])
    .select(['burst_since as burstSince', 'burst'])
    .where('person_id', '=', personId)
    .executeTakeFirstOrThrow(() => new Failure('not_found', 'This person has been deleted.'));
  return { ...row, hasSummary: row.summary === 1, isStopped: row.refusals >= MAX_REFUSALS };
}

/** Changes what the person wants, or what became of their mail. */
export async function updatePersonMail(
  db: Db,
  personId: string,
  change: UpdateObject<Tables, 'person_mail'>,
): Promise<void> {
  await db.write(async (tx) => {
    await tx.updateTable('person_mail').set(change).where('person_id', '=', personId).execute();
    await refreshReceiver(tx, personId);
  });
}

/** The address takes mail again: the person has said so, or it has taken one. */
export async function confirmAddress(db: Db, personId: string): Promise<void> {
  await updatePersonMail(db, personId, { refusals: 0, refusal: null });
}

/** The server has refused the address for good: shown at the person, and after MAX_REFUSALS it gets no more mail. */
export async function recordRefusal(db: Db, personId: string, refusal: string): Promise<void> {
  await updatePersonMail(db, personId, { refusals: sql<number>`refusals + 1`, refusal });
}

/** How many mails a person has got today, and about alerts and keys in a few minutes. */
export type Pace = Pick<
  PersonMail,
  'sentOn' | 'sent' | 'others' | 'keysAt' | 'burstSince' | 'burst'
>;

/** After a mail: when the process dies in between, it is not counted. */
export async function updatePace(db: Db, personId: string, pace: Pace): Promise<void> {
  const { sentOn: sent_on, keysAt: keys_at, burstSince: burst_since, ...counts } = pace;
  const { sent, others, burst } = counts;
  const set = { sent_on, sent, others, keys_at, burst_since, burst };
  await db.write((tx) =>
    tx.updateTable('person_mail').set(set).where('person_id', '=', personId).execute(),
  );
}

export function listLeftOut(db: Queries, personId: string) {
  return db
    .selectFrom('mail_left_out')
    .innerJoin('domain', 'domain.id', 'mail_left_out.domain_id')
    .select(['domain.id', 'name'])
    .where('person_id', '=', personId)
    .orderBy('name')
    .execute();
}

type LeftOut = { readonly personId: string; readonly accountId: string; readonly name: string };

/** Throws `not_found` for a name that is no domain of the account, and `limit_reached`. */
export async function insertLeftOut(db: Db, { personId, accountId, name }: LeftOut) {
  await db.write(async (tx) => {
    const domain = await tx
      .selectFrom('domain')
      .select('id')
      .where(({ and }) => and({ name: parseDomainName(name) ?? '', account_id: accountId }))
      .executeTakeFirstOrThrow(() => new Failure('not_found', 'The account has no such domain.'));
    if ((await listLeftOut(tx, personId)).length >= MAX_LEFT_OUT)
      throw new Failure('limit_reached', `At most ${MAX_LEFT_OUT} domains can be left out.`);
    const row = { person_id: personId, domain_id: domain.id };
    await tx
      .insertInto('mail_left_out')
      .values(row)
      .onConflict((oc) => oc.doNothing())
      .execute();
  });
}

export async function deleteLeftOut(db: Db, personId: string, domainId: string): Promise<void> {
  await db.write((tx) =>
    tx
      .deleteFrom('mail_left_out')
      .where(({ and }) => and({ person_id: personId, domain_id: domainId }))
      .execute(),
  );
}

/** The person and the subscription that a token of a mail names; undefined for any other text. */
export async function findSubscriber(db: Db, token: string) {
  const named = parseUnsubscribeToken(token);
  if (named === undefined) return undefined;
  const person = await db
    .selectFrom('person_mail')
    .innerJoin('person', 'person.id', 'person_id')
    .select(['email', 'link_key'])
    .where('person_id', '=', named.personId)
    .executeTakeFirst();
  const isRight = person !== undefined && named.isSignedWith(person.link_key);
  return isRight ? { ...named, email: person.email } : undefined;
}

export const UNSUBSCRIBED = {
  alerts: { alerts: 'none' },
  summary: { summary: 0 },
} as const satisfies Record<Subscription, object>;
