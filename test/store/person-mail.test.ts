import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { listMailedEvents } from '../../src/domain/mail-choice.ts';
import { isTold } from '../../src/store/events/events.ts';
import {
  insertPersonMail,
  refreshReceiver,
  updateMailServer,
  updatePersonMail,
} from '../../src/store/people/person-mail.ts';
import { aBareAccount } from '../support/builders.ts';
import { aStore } from '../support/store.ts';
import { aPerson } from '../support/visitor.ts';

test('of two changes at the same time none is lost: what a person is told follows from both', async () => {
  const { db } = await aStore();
  const accountId = await aBareAccount(db);
  await aPerson({ db }, accountId);
  // A member; the first person of an account is an owner.
  const { id } = await aPerson({ db }, accountId);
  const [changed, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const first = db.write(async (tx) => {
    await tx.updateTable('person').set({ role: 'owner' }).where('id', '=', id).execute();
    await refreshReceiver(tx, id);
    changed.resolve();
    await mayEnd.promise;
  });
  await changed.promise;
  const second = updatePersonMail(db, id, { alerts: 'at_once' });
  // Until it waits for the first one.
  await sleep(50);
  mayEnd.resolve();
  await Promise.all([first, second]);
  const receiver = db.selectFrom('receiver').select('event_types').where('id', '=', id);
  expect(await receiver.executeTakeFirst()).toEqual({
    event_types: listMailedEvents('owner', 'at_once').join(' '),
  });
});

test('a person who is added while a server is first configured is told', async () => {
  const { db } = await aStore();
  const accountId = await aBareAccount(db);
  await aPerson({ db }, accountId);
  const known = await db.selectFrom('person').selectAll().executeTakeFirstOrThrow();
  const person = { ...known, id: randomUUID(), email: 'new@example.com', email_key: 'new' };
  const [added, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const adding = db.write(async (tx) => {
    await tx.insertInto('person').values(person).execute();
    await insertPersonMail(tx, { id: person.id, accountId, role: 'owner' });
    added.resolve();
    await mayEnd.promise;
  });
  await added.promise;
  const configuring = updateMailServer(db, 'relay.example.com');
  await sleep(50);
  mayEnd.resolve();
  await Promise.all([adding, configuring]);
  const told = db.selectFrom('receiver').select('id').where(isTold);
  expect((await told.execute()).map(({ id }) => id).sort()).toEqual([known.id, person.id].sort());
});
