import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openStore } from '../../src/store/engine/open.ts';
import { operator } from '../../src/store/events/audit.ts';
import { deleteAccount } from '../../src/store/leaving/deleted-accounts.ts';
import { insertPerson } from '../../src/store/people/new-people.ts';
import { insertOneTimeLink } from '../../src/store/people/passwords.ts';
import { deletePerson } from '../../src/store/people/person-changes.ts';
import { insertSession } from '../../src/store/people/sessions.ts';
import { NOW } from '../support/builders.ts';
import { aFullAccount } from '../support/full-account.ts';
import { aDatabasePath } from '../support/store.ts';

/** What the file has of these texts when nobody has it open: then there is no log beside it. */
function findInFile(path: string, texts: readonly string[]): string[] {
  expect(existsSync(`${path}-wal`)).toBe(false);
  const bytes = readFileSync(path);
  return texts.filter((text) => bytes.includes(text));
}

test('names of deleted people stayed in pages of the file: without the audit no byte of them is left', async () => {
  const path = aDatabasePath();
  const store = await openStore(path);
  const accountId = await aFullAccount(store.db);
  const names = Array.from({ length: 40 }, (_, i) => `grace-${i}@people.example`);
  const passwordHash = 'a hash';
  for (const email of names) {
    const person = { accountId, email, passwordHash, now: NOW, role: 'member' } as const;
    const { id: personId } = await insertPerson(store.db, person);
    const proof = { password_hash: passwordHash };
    const browser = { isFactorDone: true, address: '192.0.2.7', userAgent: `agent of ${email}` };
    await insertSession(store.db, { personId, proof, ...browser, now: NOW });
    await insertOneTimeLink(store.db, personId, NOW);
  }
  const kept = names.filter((_, i) => i % 4 === 0);
  const gone = names.filter((name) => !kept.includes(name));
  const people = await store.db.selectFrom('person').select(['id', 'email']).execute();
  for (const { id, email } of people)
    if (gone.includes(email)) await deletePerson(store.db, id, undefined, { isForced: true });
  // It says who did what for as long as it is kept.
  await store.db.write((tx) => tx.deleteFrom('audit').execute());
  await store.close();
  expect(findInFile(path, gone)).toEqual([]);
  expect(findInFile(path, kept)).toEqual(kept);
});

test('what a deleted account had stayed in pages of the file', async () => {
  const path = aDatabasePath();
  const store = await openStore(path);
  const accountId = await aFullAccount(store.db);
  const { email } = await store.db.selectFrom('person').select('email').executeTakeFirstOrThrow();
  const domains = await store.db.selectFrom('domain').select('name').execute();
  const texts = [email, accountId, 'https://example.com/hook', ...domains.map(({ name }) => name)];
  await store.close();
  expect(findInFile(path, texts)).toEqual(texts);
  const again = await openStore(path);
  await deleteAccount(again.db, accountId, { by: operator(NOW), keepsReports: false });
  await again.close();
  expect(findInFile(path, texts)).toEqual([]);
});
