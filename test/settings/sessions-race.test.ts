import { beforeEach, describe, expect, test } from 'vitest';
import { hashPassword } from '../../src/domain/access/password.ts';
import { hashSecret } from '../../src/domain/access/secret.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { listAudit } from '../../src/store/events/audit.ts';
import { insertOneTimeLink, updatePassword } from '../../src/store/people/passwords.ts';
import { finishSignIn, insertPendingSignIn } from '../../src/store/people/pending-sign-ins.ts';
import { findCredentials, findPerson } from '../../src/store/people/people.ts';
import { updateDisabled } from '../../src/store/people/person-changes.ts';
import { confirmSecondFactor, startSecondFactor } from '../../src/store/people/second-factors.ts';
import {
  deleteSession,
  insertSession,
  listSessions,
  type Proof,
} from '../../src/store/people/sessions.ts';
import { findSignedOn } from '../../src/store/people/single-sign-on.ts';
import { findTokenHolder, type TokenHolder } from '../../src/store/people/tokens.ts';
import { aBareAccount, NOW } from '../support/builders.ts';
import { aStore } from '../support/store.ts';
import { aPerson } from '../support/visitor.ts';

const NEW = 'as straight as a plumb line';
const AT = { now: NOW, address: '192.0.2.1' };

let db: Store['db'];
let id: string;
let email: string;

beforeEach(async () => {
  ({ db } = await aStore());
  ({ id, email } = await aPerson({ db }, await aBareAccount(db)));
});

const open = (proof: Parameters<typeof insertSession>[1]['proof']) =>
  insertSession(db, { personId: id, proof, address: '192.0.2.1', userAgent: '', now: NOW });
const verifiedHash = async () => (await findCredentials(db, email))?.passwordHash as string;
/** The password before a change of it, and the session that it is changed in. */
async function aReplacement() {
  const replaced = await verifiedHash();
  await open({ password_hash: replaced });
  const [{ id: sessionId = '' } = {}] = await listSessions(db, id, NOW);
  return { replaced, sessionId };
}
const sessions = async () => (await listSessions(db, id, NOW)).length;

describe('changes between the check of a password and the session that it opens', () => {
  test('a sign-in with the old password opens no session after the change', async () => {
    const old = await aReplacement();
    await updatePassword(db, id, { passwordHash: await hashPassword(NEW), ...old, ...AT });
    await expect(open({ password_hash: old.replaced })).rejects.toMatchObject({
      code: 'unauthorized',
    });
    expect(await sessions()).toBe(0);
    await open({ password_hash: await verifiedHash() });
    expect(await sessions()).toBe(1);
  });

  test('a person who is disabled meanwhile gets no session', async () => {
    const proof = { password_hash: await verifiedHash() };
    await updateDisabled(db, id, true);
    await expect(open(proof)).rejects.toMatchObject({ code: 'unauthorized' });
  });

  test('a person who is disabled while the provider answers gets no session either', async () => {
    const subject = '["https://id.example","ada"]';
    await findSignedOn(db, { subject, email }, AT);
    await updateDisabled(db, id, true);
    await expect(open({ single_sign_on: subject })).rejects.toMatchObject({ code: 'unauthorized' });
  });

  test('a link that was made before the first sign-in at the provider ends with it', async () => {
    const link = await insertOneTimeLink(db, id, NOW);
    await findSignedOn(db, { subject: '["https://id.example","ada"]', email }, AT);
    expect(await findTokenHolder(db, 'one_time_link', { token: link, now: NOW })).toBeUndefined();
    const late = { passwordHash: await verifiedHash(), link, ...AT };
    await expect(updatePassword(db, id, late)).rejects.toMatchObject({ code: 'not_found' });
    const { accountId } = await findPerson(db, id);
    const [entry] = await listAudit(db, accountId, { limit: 1, kind: 'person' });
    expect(entry).toMatchObject({ action: 'single_sign_on_bound', actor: email, subject: email });
  });

  test('of two changes that began with the same old password, the first one stays', async () => {
    const old = await aReplacement();
    await updatePassword(db, id, { passwordHash: await hashPassword(NEW), ...old, ...AT });
    const late = { passwordHash: await hashPassword('the password of a thief'), ...old, ...AT };
    await expect(updatePassword(db, id, late)).rejects.toMatchObject({ code: 'unauthorized' });
  });

  test('a session that was ended while the new password was hashed changes nothing', async () => {
    const old = await aReplacement();
    await deleteSession(db, id, old.sessionId);
    const late = updatePassword(db, id, { passwordHash: '$argon2id$new', ...old, ...AT });
    await expect(late).rejects.toMatchObject({ code: 'unauthorized' });
    expect(await verifiedHash()).toBe(old.replaced);
  });

  test('a one-time link that was used while the password was hashed changes nothing', async () => {
    const link = await insertOneTimeLink(db, id, NOW);
    const old = await aReplacement();
    await updatePassword(db, id, { passwordHash: await hashPassword(NEW), ...old, ...AT });
    const late = { passwordHash: await hashPassword('the password of a thief'), link, ...AT };
    await expect(updatePassword(db, id, late)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('the first sign-in at the provider of a person with a second factor', () => {
  const subject = '["https://id.example","ada"]';
  const sealedSecret = 'v1.sealed';

  beforeEach(async () => {
    const { replaced: passwordHash, sessionId } = await aReplacement();
    await startSecondFactor(db, id, sealedSecret);
    const proofs = {
      passwordHash,
      proof: { sealedSecret, step: 1 },
      recoveryHashes: [hashSecret('a')],
    };
    const { accountId } = await findPerson(db, id);
    const by = { name: email, accountId, personId: id, at: NOW, address: AT.address };
    await confirmSecondFactor(db, { ...proofs, sessionId }, by);
  });

  const isBoundTo = async (): Promise<string | null> => {
    const person = db.selectFrom('person').select('single_sign_on').where('id', '=', id);
    return (await person.executeTakeFirstOrThrow()).single_sign_on;
  };
  const wait = (proof: Proof, bind?: string) =>
    insertPendingSignIn(db, { personId: id, proof, subject: bind, now: NOW });
  const finish = async (token: string, step: number) => {
    const pending = (await findTokenHolder(db, 'pending_sign_in', {
      token,
      now: NOW,
    })) as TokenHolder;
    const session = { ...pending, ...AT, userAgent: '' };
    return await finishSignIn(db, session, { token, code: { sealedSecret, step } });
  };

  test('binds nobody and opens nothing before the code', async () => {
    const found = await findSignedOn(db, { subject, email }, AT);
    expect(found).toEqual({ personId: id, isBound: false, needsCode: true });
    expect(await isBoundTo()).toBeNull();
    await expect(open({ single_sign_on: null })).rejects.toMatchObject({ code: 'unauthorized' });
    const token = await wait({ single_sign_on: null }, subject);
    await expect(finish(token, 1)).rejects.toMatchObject({ code: 'unauthorized' });
    expect([await isBoundTo(), await sessions()]).toEqual([null, 1]);
    await finish(token, 2);
    expect([await isBoundTo(), await sessions()]).toEqual([subject, 2]);
  });

  test('and later ones are asked for the code, too', async () => {
    await finish(await wait({ single_sign_on: null }, subject), 2);
    const found = await findSignedOn(db, { subject, email }, AT);
    expect(found).toEqual({ personId: id, isBound: true, needsCode: true });
    await expect(open({ single_sign_on: subject })).rejects.toMatchObject({ code: 'unauthorized' });
    await finish(await wait({ single_sign_on: subject }), 3);
    expect(await sessions()).toBe(3);
  });

  test('binds to the subject that the provider named, whatever the cookie says now', async () => {
    const token = await wait({ single_sign_on: null }, subject);
    const other = `${token.split('.')[0]}.${Buffer.from('another').toString('base64url')}`;
    expect(
      await findTokenHolder(db, 'pending_sign_in', { token: other, now: NOW }),
    ).toBeUndefined();
  });

  test('of two that wait for a code, one binds', async () => {
    const [first, second] = [
      await wait({ single_sign_on: null }, subject),
      await wait({ single_sign_on: null }, '["https://id.example","eve"]'),
    ];
    await finish(first, 2);
    await expect(finish(second, 3)).rejects.toMatchObject({ code: 'unauthorized' });
    expect(await isBoundTo()).toBe(subject);
    // No code is right for it any more, so the person is asked to sign in again.
    expect(
      await findTokenHolder(db, 'pending_sign_in', { token: second, now: NOW }),
    ).toBeUndefined();
  });

  test('in two browsers opens a session in both', async () => {
    const [first, second] = [
      await wait({ single_sign_on: null }, subject),
      await wait({ single_sign_on: null }, subject),
    ];
    await finish(first, 2);
    await finish(second, 3);
    expect([await isBoundTo(), await sessions()]).toEqual([subject, 3]);
  });
});
