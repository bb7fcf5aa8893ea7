import { randomBytes } from 'node:crypto';
import type { UpdateObject } from 'kysely';
import type { Role } from '../../domain/access/person.ts';
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

/* What mail a person gets. The person's row of `receiver` follows from it: what changes it ends with `refreshReceiver`. */

const LOCK = 'receivers of mail';

interface NewPersonMail {
  readonly id: string;
  readonly accountId: string;
  readonly role: Role;
}

export async function insertPersonMail(tx: Tx, { id, accountId, role }: NewPersonMail) {
  const person_mail = { person_id: id, alerts: defaultAlertMail(role), link_key: randomBytes(32) };
  await tx.insertInto('person_mail').values(person_mail).execute();
  const receiver = { id, account_id: accountId, channel: 'mail' as const, event_types: '' };
  await tx
    .insertInto('receiver')
    .values({ ...receiver, enabled: 0 })
    .execute();
  await refreshReceiver(tx, id);
}

export async function deletePersonMail(tx: Tx, personId: string): Promise<void> {
  await tx.deleteFrom('receiver').where('id', '=', personId).execute();
  await tx.deleteFrom('mail_left_out').where('person_id', '=', personId).execute();
  await tx.deleteFrom('person_mail').where('person_id', '=', personId).execute();
}

/**
 * After a change of the person, or of what the person wants. Another change at the same time, of the server as well, is
 * waited for, and then seen.
 */
export async function refreshReceiver(tx: Tx, personId: string): Promise<void> {
  await dialectOf(tx).lockName(tx, LOCK);
  const { role, alerts, ...state } = await tx
    .selectFrom('person_mail')
    .innerJoin('person', 'person.id', 'person_id')
    .leftJoin('mail_server', (join) => join.onTrue())
    .select(['role', 'alerts', 'disabled', 'refusals', 'host'])
    .where('person_id', '=', personId)
    .executeTakeFirstOrThrow();
  const event_types = listMailedEvents(role, alerts).join(' ');
  const isTold = state.host !== null && state.disabled === 0 && state.refusals < MAX_REFUSALS;
  const receiver = { event_types, enabled: isTold ? 1 : 0 } as const;
  await tx.updateTable('receiver').set(receiver).where('id', '=', personId).execute();
}

/** People are receivers while there is a server. Called when the jobs start; writes only when it has changed. */
export async function updateMailServer(db: Db, host: string | undefined): Promise<void> {
  const isKnown = async (queries: Queries) => {
    const row = await queries.selectFrom('mail_server').select('host').executeTakeFirst();
    return row?.host === host;
  };
  if (await isKnown(db)) return;
  await db.write(async (tx) => {
    await dialectOf(tx).lockName(tx, LOCK);
    if (await isKnown(tx)) return;
    await tx.deleteFrom('mail_server').execute();
    if (host !== undefined) await tx.insertInto('mail_server').values({ host }).execute();
    const people = tx.selectFrom('person_mail').innerJoin('person', 'person.id', 'person_id');
    const told = people.where('disabled', '=', 0).where('refusals', '<', MAX_REFUSALS);
    await tx
      .updateTable('receiver')
      .set({ enabled: host === undefined ? 0 : 1 })
      .where('channel', '=', 'mail')
      .where('id', 'in', told.select('person_id'))
      .execute();
  });
}

export type PersonMail = Awaited<ReturnType<typeof findPersonMail>>;

export async function findPersonMail(db: Queries, personId: string) {
  const row = await db
    .selectFrom('person_mail')
    .select(['alerts', 'summary', 'refusals', 'refusal'])
    .where('person_id', '=', personId)
    .executeTakeFirstOrThrow();
  const { alerts, summary, refusals, refusal } = row;
  return { alerts, hasSummary: summary === 1, refusal, isStopped: refusals >= MAX_REFUSALS };
}

/** Of what the person wants, or of what became of their mail. */
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

/** The domains that a person has left out, by name. */
export function listLeftOut(db: Queries, personId: string) {
  return db
    .selectFrom('mail_left_out')
    .innerJoin('domain', 'domain.id', 'mail_left_out.domain_id')
    .select(['domain.id', 'name'])
    .where('person_id', '=', personId)
    .orderBy('name')
    .execute();
}

interface LeftOut {
  readonly personId: string;
  readonly accountId: string;
  readonly name: string;
}

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

/** What ends a subscription. */
export const ENDED = {
  alerts: { alerts: 'none' },
  summary: { summary: 0 },
} as const satisfies Record<Subscription, object>;
