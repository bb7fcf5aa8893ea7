import { beforeEach, describe, expect, test } from 'vitest';
import { hashPassword } from '../../src/domain/access/password.ts';
import { listAudit } from '../../src/store/accounts/audit.ts';
import type { Store } from '../../src/store/connection/open.ts';
import { findLinkHolder, insertOneTimeLink } from '../../src/store/people/one-time-links.ts';
import { updatePassword } from '../../src/store/people/passwords.ts';
import { findCredentials, findPerson, findSignedOn } from '../../src/store/people/people.ts';
import { updateDisabled } from '../../src/store/people/person-changes.ts';
import { deleteSession, insertSession, listSessions } from '../../src/store/people/sessions.ts';
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
    expect(await findLinkHolder(db, link, NOW)).toBeUndefined();
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
