import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { listMailedEvents } from '../../src/domain/mail-choice.ts';
import { refreshReceiver, updatePersonMail } from '../../src/store/people/person-mail.ts';
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
  await sleep(200);
  mayEnd.resolve();
  await Promise.all([first, second]);
  const receiver = db.selectFrom('receiver').select('event_types').where('id', '=', id);
  expect(await receiver.executeTakeFirst()).toEqual({
    event_types: listMailedEvents('owner', 'at_once').join(' '),
  });
});
