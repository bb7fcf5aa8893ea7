import { describe, expect, test } from 'vitest';
import { later } from '../../src/domain/instant.ts';
import { MAX_REFUSALS } from '../../src/domain/mail-choice.ts';
import { createOutbox } from '../../src/notify/outbox.ts';
import { insertApiKey } from '../../src/store/accounts/api-keys.ts';
import { insertEvents } from '../../src/store/events/events.ts';
import { askForDeletion, takeBackDeletion } from '../../src/store/leaving/deletion-request.ts';
import { insertSummaries } from '../../src/store/notify/summaries.ts';
import { invitePerson } from '../../src/store/people/new-people.ts';
import { insertOneTimeLink } from '../../src/store/people/passwords.ts';
import { updateDisabled, updateRole } from '../../src/store/people/person-changes.ts';
import {
  confirmAddress,
  findPersonMail,
  insertLeftOut,
  updateMailServer,
  updatePersonMail,
} from '../../src/store/people/person-mail.ts';
import { findTokenHolder } from '../../src/store/people/tokens.ts';
import {
  aBareAccount,
  aDomain,
  anAlert,
  aReportOf,
  NOW,
  receive,
  recordsOf,
  resolveAlert,
  UNKNOWN_ID,
} from '../support/builders.ts';
import { deliverMail, listMailRows } from '../support/inbox.ts';
import { workAll } from '../support/inbox-worker.ts';
import { aMailChannel, BASE_URL } from '../support/mail-channel.ts';
import { listFields, refusal } from '../support/mail-server.ts';
import { aStore } from '../support/store.ts';
import { aPerson } from '../support/visitor.ts';
import { anEndpoint, aWebhook, aWebhookChannel } from '../support/webhooks.ts';

const repeat = (text: string, count: number) => Array.from({ length: count }, () => text);

/** An account with an owner, a member and a domain, and a real mail server. */
async function aWorld(given: Parameters<typeof aMailChannel>[1] = {}) {
  const store = await aStore();
  const { db } = store;
  const accountId = await aBareAccount(db);
  const { id: domainId, name } = await aDomain(db, accountId, { name: 'mail.example' });
  const mail = await aMailChannel(store, given);
  const owner = await aPerson({ db }, accountId, 'owner@example.com');
  const member = await aPerson({ db }, accountId, 'member@example.com');
  const fire = (count: number) =>
    Promise.all(Array.from({ length: count }, () => anAlert(db, { accountId, domainId })));
  return { ...mail, store, db, accountId, domainId, name, owner, member, fire };
}

const ALERT = 'Pass rate fell on mail.example';

describe('mails about alerts', () => {
  test('come at once to owners and not to members, a resolution in the thread of its firing', async () => {
    const { db, deliver, received, fire, domainId } = await aWorld();
    const [id = ''] = await fire(1);
    await deliver();
    await resolveAlert(db, id, later(NOW, 30_000));
    await deliver();
    expect(received.map(({ to }) => to)).toEqual([['owner@example.com'], ['owner@example.com']]);
    expect(received.map(({ subject }) => subject)).toEqual([ALERT, `Re: ${ALERT}`]);
    const [fired, resolved] = received.map(({ raw }) => listFields(raw));
    const messageId = fired?.find((field) => field.startsWith('Message-ID: '));
    expect(resolved).toContain(`In-Reply-To: ${messageId?.slice('Message-ID: '.length)}`);
    const [first] = received;
    for (const part of [first?.text, first?.html]) {
      expect(part).toContain('from 98.74% to 67.34%');
      expect(part).toContain('find out whose messages fail since then');
      expect(part).toContain(`${BASE_URL}/settings/domains/${domainId}#alerts`);
      expect(part).toContain(`${BASE_URL}/settings/mail`);
      expect(part).toContain(`${BASE_URL}/settings/unsubscribe?token=alerts.`);
    }
    expect(received[1]?.text).toContain('This alert is resolved.');
    expect(first?.html).not.toMatch(/<(img|link|script|iframe)|src=|url\(|@import/);
  });

  test('that a server holds at DATA hold up no webhook', async () => {
    const {
      db,
      accountId,
      domainId,
      owner,
      channel: mail,
    } = await aWorld({ answer: () => 'never', maxMs: 2_000 });
    const { url, got } = await anEndpoint();
    await aWebhook(db, accountId, url);
    const logError = (error: unknown) => {
      throw error;
    };
    const aborting = new AbortController();
    const outboxes = [mail, aWebhookChannel(db)].map((channel) =>
      createOutbox({ db, channel, logError, pollMs: 10 }),
    );
    const loops = outboxes.map(async ({ step }) => {
      while (!aborting.signal.aborted) await step(aborting.signal);
    });
    for (let i = 0; i < 9; i += 1)
      await anAlert(db, { accountId, domainId }, { type: `alert.number_${i}` });
    await expect.poll(() => got.length).toBe(9);
    const mails = db.selectFrom('delivery').select('state').where('receiver_id', '=', owner.id);
    expect(new Set((await mails.execute()).map(({ state }) => state))).toEqual(
      new Set(['waiting']),
    );
    aborting.abort();
    await Promise.all(loops);
    for (const { settle } of outboxes) await settle();
  });

  test('are not written at all without a mail server', async () => {
    const { db, fire } = await aWorld();
    await updateMailServer(db, undefined);
    await fire(2);
    expect(await db.selectFrom('event').select('id').execute()).toEqual([]);
  });

  test('of ten changes or more are one mail with a list; those after it wait for ten minutes', async () => {
    let now = later(NOW, 60_000);
    const { deliver, fire, takeSubjects } = await aWorld({ now: () => now });
    await fire(10);
    await deliver();
    expect(takeSubjects('owner@example.com')).toEqual(['10 alerts fired and 0 resolved']);
    await fire(3);
    await deliver();
    expect(takeSubjects('owner@example.com')).toEqual([ALERT, ALERT, ALERT]);
    await fire(9);
    await deliver();
    expect(takeSubjects('owner@example.com')).toEqual([]);
    for (const [ms, mails] of [
      [599_000, 0],
      [1_000, 9],
    ] as const) {
      now = later(now, ms);
      await deliver({ all: true });
      expect(takeSubjects('owner@example.com')).toHaveLength(mails);
    }
  });

  test('are forty-five a day at most, and the last one says so', async () => {
    let now = later(NOW, 60_000);
    const { deliver, fire, received } = await aWorld({ now: () => now });
    for (let i = 0; i < 6; i += 1) {
      await fire(9);
      await deliver({ all: true });
      now = later(now, 11 * 60_000);
    }
    await deliver({ all: true });
    expect(received).toHaveLength(45);
    const saysSo = received.map(({ text }) => text.includes('last mail about alerts for today'));
    expect(saysSo.indexOf(true)).toBe(44);
    now = later(now, 86_400_000);
    await deliver({ all: true });
    const subjects = received.map(({ subject }) => subject);
    expect(subjects.slice(45)).toEqual(repeat(ALERT, 9));
  });

  test('once a day are one mail after seven o’clock', async () => {
    let now = later(NOW, 60_000);
    const { db, deliver, fire, member, takeSubjects } = await aWorld({ now: () => now });
    await updatePersonMail(db, member.id, { alerts: 'daily' });
    await fire(3);
    await deliver();
    expect(takeSubjects('member@example.com')).toEqual([]);
    now = '2026-03-15T07:00:30Z';
    await deliver({ all: true });
    expect(takeSubjects('member@example.com')).toEqual(['3 alerts fired and 0 resolved']);
  });

  test('do not come about a domain that is left out', async () => {
    const { db, deliver, fire, owner, accountId, name, received } = await aWorld();
    await insertLeftOut(db, { personId: owner.id, accountId, name });
    const other = await aDomain(db, accountId, { name: 'other.example' });
    await fire(1);
    await anAlert(db, { accountId, domainId: other.id });
    await deliver();
    expect(received.map(({ subject }) => subject)).toEqual(['Pass rate fell on other.example']);
  });

  test('a domain of another account cannot be left out', async () => {
    const { db, owner, accountId } = await aWorld();
    const { name } = await aDomain(db, await aBareAccount(db));
    const leaving = insertLeftOut(db, { personId: owner.id, accountId, name });
    await expect(leaving).rejects.toMatchObject({ code: 'not_found' });
  });

  test('have the same Message-ID in each try', async () => {
    let isAway = true;
    const ids: (string | undefined)[] = [];
    const { deliver, fire, received } = await aWorld({
      answer: ({ raw }) => {
        ids.push(listFields(raw).find((field) => field.startsWith('Message-ID')));
        return isAway ? refusal(451, 'Later') : null;
      },
    });
    await fire(1);
    await deliver();
    isAway = false;
    await deliver({ all: true });
    expect(received).toHaveLength(1);
    expect([ids.length, new Set(ids).size]).toEqual([2, 1]);
  });
});

describe('an address that the server refuses for good', () => {
  test('is shown at the person, and gets no more mail after three, until it is confirmed', async () => {
    let isKnown = false;
    const { db, deliver, fire, owner, received } = await aWorld({
      answerTo: () => (isKnown ? null : refusal(550, 'No such person')),
    });
    for (let i = 0; i < MAX_REFUSALS; i += 1) {
      await fire(1);
      await deliver({ all: true });
    }
    const mail = await findPersonMail(db, owner.id);
    expect(mail).toMatchObject({
      isStopped: true,
      refusal: expect.stringMatching(/No such person/),
    });
    isKnown = true;
    await fire(1);
    await deliver({ all: true });
    expect(received).toEqual([]);
    await confirmAddress(db, owner.id);
    await fire(1);
    await deliver({ all: true });
    expect(received).toHaveLength(1);
    expect(await findPersonMail(db, owner.id)).toMatchObject({ isStopped: false, refusal: null });
  });

  test('does not count when the server refuses the sender', async () => {
    const { db, deliver, fire, owner } = await aWorld({
      onMailFrom: (_address, _session, done) => done(refusal(550, 'Not you')),
    });
    await fire(1);
    await deliver();
    expect(await findPersonMail(db, owner.id)).toMatchObject({ isStopped: false, refusal: null });
  });
});

describe('mails about a person’s own sign-in', () => {
  test('an invitation has a link that is stored nowhere before it is sent, beside the one that was shown', async () => {
    const { db, accountId, deliver, received } = await aWorld();
    const invited = await invitePerson(db, { accountId, email: 'new@example.com', now: NOW });
    const stored = JSON.stringify(await db.selectFrom('event').selectAll().execute());
    expect(stored).toContain('new@example.com');
    await deliver();
    const [{ subject, text } = { subject: '', text: '' }] = received;
    expect(subject).toBe('Your invitation to Example');
    const [, token = ''] = /\/settings\/welcome\?link=([\w-]{43})/.exec(text) ?? [];
    expect(stored).not.toContain(token);
    for (const link of [token, invited.token]) {
      const holder = await findTokenHolder(db, 'one_time_link', { token: link, now: NOW });
      expect(holder?.email).toBe('new@example.com');
    }
  });

  test('a link that an operator makes is mailed too, and those from before end', async () => {
    const { db, member, deliver, received } = await aWorld();
    const first = await insertOneTimeLink(db, member.id, NOW);
    await deliver();
    await insertOneTimeLink(db, member.id, NOW);
    await deliver();
    const tokens = received.map(({ text }) => /link=([\w-]{43})/.exec(text)?.[1] ?? '');
    const find = (token: string) => findTokenHolder(db, 'one_time_link', { token, now: NOW });
    expect(await find(first)).toBeUndefined();
    expect(await find(tokens[0] ?? '')).toBeUndefined();
    expect((await find(tokens[1] ?? ''))?.email).toBe('member@example.com');
  });

  test('come to that person alone, and to owners when a key is made', async () => {
    const { db, accountId, member, deliver, takeSubjects } = await aWorld();
    await updateRole(db, member.id, 'owner');
    await insertApiKey(db, { accountId, name: 'nightly\r\nBcc: eve', now: NOW }).catch(() => {});
    await insertApiKey(db, { accountId, name: 'nightly sync', now: NOW });
    await deliver();
    const key = 'An API key was created: nightly sync';
    expect(takeSubjects('member@example.com')).toEqual([
      'You are an owner of the account now',
      key,
    ]);
    expect(takeSubjects('owner@example.com')).toEqual([key]);
  });

  test('come to owners when the deletion of the account is asked for, and taken back', async () => {
    const { db, accountId, deliver, takeSubjects, received } = await aWorld();
    const by = { name: 'owner@example.com', address: '192.0.2.1', at: NOW };
    await askForDeletion(db, accountId, by);
    await deliver();
    expect(received[0]?.text).toContain('By owner@example.com, from 192.0.2.1');
    await takeBackDeletion(db, accountId, by);
    await deliver();
    expect(takeSubjects('member@example.com')).toEqual([]);
    expect(takeSubjects('owner@example.com')).toEqual([
      expect.stringMatching(/^The deletion of the account “.*” was asked for$/),
      expect.stringMatching(/^The account “.*” stays: its deletion was taken back$/),
    ]);
  });

  test('come to owners when a webhook was turned off', async () => {
    const { db, accountId, deliver, received } = await aWorld();
    const data = JSON.stringify({
      webhook_id: UNKNOWN_ID,
      url: 'https://hooks.example/',
      reason: 'gone',
    });
    const event = { accountId, type: 'webhook.disabled' as const, at: NOW, data };
    await db.write((tx) => insertEvents(tx, [event]));
    await deliver();
    expect(received.map(({ to, subject }) => [to, subject])).toEqual([
      [['owner@example.com'], 'A webhook was turned off'],
    ]);
    expect(received[0]?.text).toContain(
      'https://hooks.example/. Plumbline turned it off: the endpoint answered 410',
    );
  });

  test('come to owners once for each new reporter, and for five of them a day', async () => {
    const { db, name, deliver, received } = await aWorld();
    for (const number of [1, 1, 2, 3, 4, 5, 6, 7]) {
      const sender = { authenticated: `new-${number}.example` };
      await receive(db, [aReportOf([], { domain: name })], NOW, sender);
    }
    await deliver();
    const subjects = [1, 2, 3, 4, 5].map(
      (number) => `A new reporter sends reports about ${name}: new-${number}.example`,
    );
    expect(received.map(({ to, subject }) => [to, subject])).toEqual(
      subjects.map((subject) => [['owner@example.com'], subject]),
    );
    expect(received[0]?.text).toContain('For 14 days its reports are set aside');
    const told = db.selectFrom('audit').select('subject').where('action', '=', 'reporter_new');
    expect(await told.execute()).toHaveLength(7);
  });

  test('a person who is disabled gets none', async () => {
    const { db, member, fire, deliver, received } = await aWorld();
    await updatePersonMail(db, member.id, { alerts: 'at_once' });
    await updateDisabled(db, member.id, true);
    await fire(1);
    await deliver();
    expect(received.flatMap(({ to }) => to)).toEqual(['owner@example.com']);
  });
});

test('fifty keys that a member made used up the mails of the day: they are one mail, after the alerts', async () => {
  let now = later(NOW, 60_000);
  const { db, accountId, deliver, fire, takeSubjects } = await aWorld({ now: () => now });
  const data = JSON.stringify({ action: 'key_created', actor: 'eve', address: null, detail: '' });
  const made = { accountId, type: 'key.created' as const, at: NOW, data };
  await db.write((tx) =>
    insertEvents(
      tx,
      repeat('', 60).map(() => made),
    ),
  );
  await fire(1);
  await deliver({ all: true });
  expect(takeSubjects('owner@example.com')).toEqual([ALERT, '60 API keys were created']);
  await db.write((tx) => insertEvents(tx, [made, made]));
  await deliver({ all: true });
  expect(takeSubjects('owner@example.com')).toEqual([]);
  now = later(now, 600_000);
  await deliver({ all: true });
  expect(takeSubjects('owner@example.com')).toEqual(['2 API keys were created']);
});

test('of fifty mails a day, fifteen are about anything but alerts, and the last five are links', async () => {
  const { db, accountId, owner, deliver, takeSubjects } = await aWorld();
  const data = JSON.stringify({ action: 'deletion_asked', actor: 'eve', address: null });
  const asked = { accountId, type: 'account.deletion' as const, at: NOW, data };
  const ask = () =>
    db.write((tx) =>
      insertEvents(
        tx,
        repeat('', 20).map(() => asked),
      ),
    );
  await ask();
  await deliver({ all: true });
  expect(takeSubjects('owner@example.com')).toHaveLength(15);
  await updatePersonMail(db, owner.id, { sent_on: '2026-03-15', others: 0, sent: 43 });
  await ask();
  await deliver({ all: true });
  expect(takeSubjects('owner@example.com')).toHaveLength(2);
  for (let i = 0; i < 7; i += 1) await insertOneTimeLink(db, owner.id, NOW);
  await deliver({ all: true });
  expect(takeSubjects('owner@example.com')).toEqual(repeat('Choose a new password', 5));
});

test('a mail that comes back into the inbox is ignored, and so is one that quotes it', async () => {
  const { db, deliver, fire, received } = await aWorld();
  await fire(1);
  await deliver();
  const raw = received[0]?.raw ?? '';
  expect(raw).toContain('Message-ID');
  const bounce = `From: <>\r\nContent-Type: message/rfc822\r\n\r\n${raw}`;
  for (const bytes of [raw, bounce]) await deliverMail(db, { bytes: Buffer.from(bytes, 'latin1') });
  await workAll(db);
  expect(
    (await listMailRows(db)).map(({ counts }) => Object.keys(JSON.parse(counts ?? '{}'))),
  ).toEqual([['ignored'], ['ignored']]);
});

describe('the summary on Mondays', () => {
  const MONDAY = '2026-03-16';
  const at = (day: string) => ({ monday: day, now: `${day}T07:00:00Z` });

  test('says what a domain’s week was, what is new, what is open, and what to do', async () => {
    const { db, member, name, fire, deliver, received } = await aWorld({
      now: () => '2026-03-16T07:00:10Z',
    });
    await updatePersonMail(db, member.id, { summary: 1 });
    const of = (day: string, ip: string, messages: number, aligned: number) =>
      aReportOf(recordsOf(ip, messages, aligned), { domain: name, begin: `${day}T00:00:00Z` });
    await receive(db, [
      of('2026-02-20', '192.0.2.1', 10, 10),
      of('2026-03-03', '192.0.2.1', 100, 100),
      of('2026-03-10', '192.0.2.1', 90, 90),
      of('2026-03-11', '192.0.2.2', 10, 0),
    ]);
    await fire(1);
    await insertSummaries(db, at('2026-03-09'));
    await insertSummaries(db, at(MONDAY));
    await insertSummaries(db, at(MONDAY));
    await deliver();
    const own = received.filter(({ to }) => to.includes('member@example.com'));
    expect(own.map(({ subject }) => subject)).toEqual(['The week to 15 Mar 2026: Example']);
    const [{ text, raw } = { text: '', raw: '' }] = own;
    expect(text).toContain(
      '100 messages, 90% passed, 10 points less than in the week before. 1 source sent for the first time in a month.',
    );
    expect(text).toContain('Open: Pass rate fell.');
    expect(text).toContain('The pass rate fell: find out whose messages fail since then.');
    expect(raw).toContain('unsubscribe?token=summary.');
  });

  test('comes to nobody who does not want it, or does not want it any more', async () => {
    const { db, member, deliver, received } = await aWorld();
    await updatePersonMail(db, member.id, { summary: 1 });
    await insertSummaries(db, at('2026-03-09'));
    await insertSummaries(db, at(MONDAY));
    await updatePersonMail(db, member.id, { summary: 0 });
    await deliver();
    expect(received).toEqual([]);
  });
});

test('a mail that the server stalls for delays nobody else', async () => {
  const { db, deliver, fire, member, received } = await aWorld({
    answer: ({ to }) => (to.includes('owner@example.com') ? 'never' : null),
    maxMs: 2_000,
  });
  await updatePersonMail(db, member.id, { alerts: 'at_once' });
  await fire(3);
  const delivering = deliver();
  await expect.poll(() => received.length).toBe(3);
  expect(received.flatMap(({ to }) => to)).not.toContain('owner@example.com');
  await delivering;
});
