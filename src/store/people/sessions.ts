import { randomUUID } from 'node:crypto';
import type { UpdateObject } from 'kysely';
import { createSecret, hashSecret } from '../../domain/access/secret.ts';
import { Failure } from '../../domain/failure.ts';
import { DAY_MS, type Instant, later } from '../../domain/instant.ts';
import type { Db, Tx } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import { type Param, prepareQuery, type RowOfQuery } from '../engine/prepared.ts';
import type { Reader } from '../engine/reader.ts';
import type { Tables } from '../tables.ts';

export const SESSION_IDLE_MS = 7 * DAY_MS;
/** Every session ends after this long, even when it is in use. */
export const SESSION_MS = 30 * DAY_MS;

export type OpenSession = Readonly<RowOfQuery<typeof openSession>>;

export type SessionRow = Pick<Tables['session'], (typeof LISTED_COLUMNS)[number]>;

const LISTED_COLUMNS = ['id', 'created_at', 'last_seen_at', 'address', 'user_agent'] as const;

/** The stored value that a person has proved to know. It must be unchanged when the session begins. */
export type Proof = { readonly password_hash: string } | { readonly single_sign_on: string | null };

export interface NewSession {
  readonly personId: string;
  readonly proof: Proof;
  /** Whether a second factor need not be asked for any more. */
  readonly isFactorDone?: boolean | undefined;
  /** The token of the browser's former session, which ends. */
  readonly before?: string | undefined;
  readonly address: string;
  readonly userAgent: string;
  readonly now: Instant;
  readonly notice?: string | undefined;
}

/** User agents are untrusted text. This many characters tell one browser from another. */
const MAX_USER_AGENT = 300;

/**
 * Opens a session, and returns its token, which is stored nowhere. Throws `unauthorized` when the person was
 * disabled, or their proof or second factor has changed: hashing takes long enough for that.
 */
export async function insertSession(db: Db, session: NewSession): Promise<string> {
  const { personId, proof, isFactorDone = false } = session;
  return await db.write(async (tx) => {
    await requireProof(tx, personId, proof);
    if (!isFactorDone && (await hasSecondFactor(tx, personId))) throw signInHasChanged();
    return await addSession(tx, { ...session, isSingleSignOn: 'single_sign_on' in proof });
  });
}

/**
 * Locks an enabled person with this proof, else throws `unauthorized`: of two changes with one password, the second fails.
 */
export async function requireProof(tx: Tx, personId: string, proof: Proof): Promise<void> {
  await tx
    .selectFrom('person')
    .select('id')
    .where(({ and }) => and({ id: personId, disabled: 0, ...proof }))
    .$call(dialectOf(tx).locked)
    .executeTakeFirstOrThrow(signInHasChanged);
}

export function signInHasChanged(): Failure {
  return new Failure('unauthorized', 'Your sign-in has changed meanwhile. Please sign in again.');
}

export async function hasSecondFactor(tx: Tx, personId: string): Promise<boolean> {
  const factor = await tx
    .selectFrom('second_factor')
    .select('person_id')
    .where('person_id', '=', personId)
    .where('confirmed_at', 'is not', null)
    .executeTakeFirst();
  return factor !== undefined;
}

type VerifiedSession = Omit<NewSession, 'proof' | 'isFactorDone'> & {
  readonly isSingleSignOn: boolean;
};

/** Opens a session of a person who has proved who they are. */
export async function addSession(tx: Tx, session: VerifiedSession): Promise<string> {
  const { personId, before, address, userAgent, now, notice = null, isSingleSignOn } = session;
  const { token, sha256 } = createSecret();
  await tx.deleteFrom('session').where('expires_at', '<=', now).execute();
  if (before !== undefined) await deleteToken(tx, before);
  await tx
    .insertInto('session')
    .values({
      id: randomUUID(),
      person_id: personId,
      sha256,
      created_at: now,
      last_seen_at: now,
      expires_at: later(now, SESSION_MS),
      address,
      notice,
      user_agent: userAgent.slice(0, MAX_USER_AGENT),
      single_sign_on: isSingleSignOn ? 1 : 0,
    })
    .execute();
  const signedIn = { last_signed_in_at: now };
  await tx.updateTable('person').set(signedIn).where('id', '=', personId).execute();
  return token;
}

const openSession = prepareQuery(
  (db, param: Param<{ sha256: Uint8Array; now: Instant; idleSince: Instant }>) =>
    db
      .selectFrom('session')
      .innerJoin('person', 'person.id', 'session.person_id')
      .innerJoin('account', 'account.id', 'person.account_id')
      .leftJoin('second_factor', 'second_factor.person_id', 'person.id')
      .select(['session.id', 'session.last_seen_at as lastSeenAt', 'session.notice'])
      .select(['person.id as personId', 'person.email', 'person.role'])
      .select(['account.id as accountId', 'account.name as accountName', 'account.plan'])
      .select('second_factor.confirmed_at as secondFactorSince')
      // Whether the account wants one of people who sign in with a password.
      .select('account.second_factor_required as secondFactorRequired')
      .select('session.single_sign_on as isSingleSignOn')
      .where('session.sha256', '=', param('sha256'))
      .where('session.expires_at', '>', param('now'))
      .where('session.last_seen_at', '>', param('idleSince'))
      .where('person.disabled', '=', 0),
);

/** undefined when no open session has this token, whatever the reason. */
export async function findSession(reader: Reader, token: string, now: Instant) {
  const idleSince = later(now, -SESSION_IDLE_MS);
  return (await reader.readFirst(openSession({ sha256: hashSecret(token), now, idleSince })))[0];
}

export function listSessions(db: Db, personId: string, now: Instant): Promise<SessionRow[]> {
  return db
    .selectFrom('session')
    .select(LISTED_COLUMNS)
    .where('person_id', '=', personId)
    .where('expires_at', '>', now)
    .where('last_seen_at', '>', later(now, -SESSION_IDLE_MS))
    .orderBy('last_seen_at', 'desc')
    .orderBy('id')
    .execute();
}

export async function updateSession(db: Db, id: string, change: UpdateObject<Tables, 'session'>) {
  await db.write((tx) => tx.updateTable('session').set(change).where('id', '=', id).execute());
}

/** Ends one of a person's sessions. Throws `not_found` when it is not theirs. */
export async function deleteSession(db: Db, personId: string, id: string): Promise<void> {
  const { numDeletedRows } = await db.write((tx) => {
    const sessions = tx.deleteFrom('session').where('person_id', '=', personId);
    return sessions.where('id', '=', id).executeTakeFirst();
  });
  if (numDeletedRows === 0n) throw new Failure('not_found', 'No such session.');
}

/** Ends all of a person's sessions except one, and returns how many it ended. */
export async function deleteOtherSessions(
  db: Db,
  { id, personId }: { id: string; personId: string },
): Promise<number> {
  const { numDeletedRows } = await db.write((tx) => {
    const sessions = tx.deleteFrom('session').where('person_id', '=', personId);
    return sessions.where('id', '<>', id).executeTakeFirst();
  });
  return Number(numDeletedRows);
}

export async function deleteSessionOf(db: Db, token: string): Promise<void> {
  await db.write((tx) => deleteToken(tx, token));
}

async function deleteToken(tx: Tx, token: string): Promise<void> {
  await tx.deleteFrom('session').where('sha256', '=', hashSecret(token)).execute();
}
