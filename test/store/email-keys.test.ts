import type { Kysely } from 'kysely';
import { expect, test } from 'vitest';
import { up } from '../../src/store/migrations/0005-email-keys.ts';
import { insertPerson } from '../../src/store/people/new-people.ts';
import { findCredentials, listPeople, type Person } from '../../src/store/people/people.ts';
import { aBareAccount } from '../support/builders.ts';
import { aStore } from '../support/store.ts';

test('keys of older versions are made again, and two that become equal do not stop the migration', async () => {
  const { db } = await aStore();
  const accountId = await aBareAccount(db);
  const emails = ['\uff41lice@example.com', 'eve@xn--bcher-kva.example', 'bob@example.com'];
  const people: Person[] = [];
  for (const [i, email] of emails.entries()) {
    const now = `2026-03-1${i}T00:00:00Z`;
    people.push(await insertPerson(db, { accountId, email, passwordHash: null, now }));
  }
  await db.write(async (tx) => {
    const set = (id: string | undefined, to: { email: string; email_key: string }) =>
      tx
        .updateTable('person')
        .set(to)
        .where('id', '=', id ?? '')
        .execute();
    // The key that NFKC of the whole address gave.
    await set(people[0]?.id, { email: emails[0] as string, email_key: 'alice@example.com' });
    await set(people[2]?.id, { email: 'eve@bücher.example', email_key: 'eve@bücher.example' });
    await up(tx as unknown as Kysely<never>);
  });
  const find = async (email: string) => (await findCredentials(db, email))?.personId;
  expect(await find('\uff41LICE@example.com')).toBe(people[0]?.id);
  expect(await find('alice@example.com')).toBeUndefined();
  expect(await find('eve@bücher.example')).toBe(people[1]?.id);
  expect(await listPeople(db, accountId)).toHaveLength(3);
});
