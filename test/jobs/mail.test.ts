import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { toInstant } from '../../src/domain/instant.ts';
import { startMail, tidyMail } from '../../src/jobs/mail.ts';
import { isTold } from '../../src/store/events/events.ts';
import { insertSummaries } from '../../src/store/notify/summaries.ts';
import { invitePerson } from '../../src/store/people/new-people.ts';
import { updatePersonMail } from '../../src/store/people/person-mail.ts';
import { aBareAccount, aDomain, anAlert } from '../support/builders.ts';
import { BASE_URL } from '../support/mail-channel.ts';
import { aMailServer } from '../support/mail-server.ts';
import { aStore } from '../support/store.ts';
import { aPerson } from '../support/visitor.ts';

async function aWorld() {
  const store = await aStore();
  const { db } = store;
  const accountId = await aBareAccount(db);
  const { received, config } = await aMailServer();
  const { id } = await aPerson({ db }, accountId, 'owner@example.com');
  const start = () => {
    const log = pino({ level: 'silent' });
    const mail = startMail(config, { store, log, baseUrl: BASE_URL });
    onTestFinished(mail.stop);
    return mail;
  };
  const isReceiver = async () => {
    const told = db.selectFrom('receiver').select('id').where('id', '=', id).where(isTold);
    return (await told.execute()).length === 1;
  };
  return { store, db, accountId, ownerId: id, received, config, start, isReceiver };
}

test('people are told while the jobs have a mail server', async () => {
  const { store, db, accountId, received, config, start, isReceiver } = await aWorld();
  expect(await isReceiver()).toBe(false);
  const mail = start();
  await expect.poll(isReceiver).toBe(true);
  await invitePerson(db, { accountId, email: 'new@example.com', now: toInstant(new Date()) });
  await expect.poll(() => received.map(({ to }) => to)).toEqual([['new@example.com']]);
  await mail.stop();
  await tidyMail({ mailServer: config, store }, async () => true);
  expect(await isReceiver()).toBe(true);
  await tidyMail({ mailServer: undefined, store }, async () => true);
  expect(await isReceiver()).toBe(false);
});

test('the summary says what the overview says to do next', async () => {
  const { db, accountId, ownerId, received, start, isReceiver } = await aWorld();
  const { id: domainId, name } = await aDomain(db, accountId);
  await aDomain(db, accountId, { name: 'silent.example' });
  start();
  await expect.poll(isReceiver).toBe(true);
  await updatePersonMail(db, ownerId, { alerts: 'none', summary: 1 });
  const now = toInstant(new Date());
  await anAlert(db, { accountId, domainId }, { firedAt: now });
  await insertSummaries(db, { monday: '2026-03-09', now });
  await insertSummaries(db, { monday: '2026-03-16', now });
  await expect.poll(() => received.length).toBe(1);
  const text = received[0]?.text.replaceAll('\r\n', '\n') ?? '';
  expect(text).toMatch(new RegExp(`${name}\n-+\n\nNo report of that week has come.`));
  expect(text).toMatch(/silent\.example\n-+\n\n.*\n\nNo report has come in yet: ask the operator/);
});
