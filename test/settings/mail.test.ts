import request from 'supertest';
import { beforeEach, describe, expect, test } from 'vitest';
import { toInstant } from '../../src/domain/instant.ts';
import { toUnsubscribeToken } from '../../src/domain/mail-choice.ts';
import { invitePerson } from '../../src/store/people/new-people.ts';
import { insertMailedLink, requestLink, updatePassword } from '../../src/store/people/passwords.ts';
import { lockPersonRow } from '../../src/store/people/people.ts';
import { findPersonMail, updatePersonMail } from '../../src/store/people/person-mail.ts';
import { type Api, serveApi } from '../support/api.ts';
import { aBareAccount, aDomain, NOW } from '../support/builders.ts';
import { aMailChannel, BASE_URL } from '../support/mail-channel.ts';
import { aPerson, aSignedIn, Browser, PASSWORD, toReadable } from '../support/visitor.ts';

const MAIL = '/settings/mail';
const FORGOTTEN = '/settings/forgotten';
const SERVER = {
  ...{ host: '127.0.0.1', port: 25, security: 'none' as const, user: undefined },
  ...{ password: undefined, from: { name: '', address: 'plumbline@example.com' } },
};

let api: Api;
let accountId: string;

beforeEach(async () => {
  api = await serveApi({ mailServer: SERVER, baseUrl: BASE_URL });
  accountId = await aBareAccount(api.db);
});

describe('a forgotten password', () => {
  const ask = (email: string) => new Browser(api).post(FORGOTTEN, { email });

  test('is answered alike for known and unknown addresses, and mailed to the known one only', async () => {
    const now = () => toInstant(new Date());
    const { deliver, received } = await aMailChannel(api.store, { now });
    const { email } = await aPerson(api, accountId, 'ada@example.com');
    const known = await ask(email);
    const unknown = await ask('eve@example.net');
    const none = await ask('no address');
    const strip = ({ status, headers, text }: typeof known) => {
      const { date, 'x-request-id': id, ...rest } = headers;
      return { status, text, ...rest };
    };
    expect(strip(unknown)).toEqual(strip(known));
    expect(strip(none)).toEqual(strip(known));
    expect(known.status).toBe(200);
    await expect
      .poll(async () => (await api.db.selectFrom('event').select('id').execute()).length)
      .toBe(1);
    await deliver();
    expect(received.map(({ to }) => to)).toEqual([['ada@example.com']]);
    const [, path = ''] =
      /dmarc\.example\.com(\/settings\/welcome\S+)/.exec(received[0]?.text ?? '') ?? [];
    expect(toReadable((await new Browser(api).get(path)).text)).toContain(email);
  });

  test('is answered before anything is done for the address, known or not', async () => {
    await aMailChannel(api.store);
    const { id, email } = await aPerson(api, accountId);
    const held = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const holding = api.db.write(async (tx) => {
      await lockPersonRow(tx, id);
      locked.resolve();
      await held.promise;
    });
    await locked.promise;
    const countEvents = async () =>
      (await api.db.selectFrom('event').select('id').execute()).length;
    for (const one of [email, 'eve@example.net']) expect((await ask(one)).status).toBe(200);
    held.resolve();
    await holding;
    await expect.poll(countEvents).toBe(1);
  });

  test('leaves the password valid until a new one is chosen', async () => {
    const { email } = await aPerson(api, accountId);
    await aMailChannel(api.store);
    await ask(email);
    expect((await new Browser(api).signIn(email, PASSWORD)).status).toBe(303);
  });

  test('that anybody asked for three times locked an address for four hours and ended the former link: neither', async () => {
    const now = () => toInstant(new Date());
    const { deliver, received } = await aMailChannel(api.store, { now });
    const { email } = await aPerson(api, accountId);
    const countEvents = async () =>
      (await api.db.selectFrom('event').select('id').execute()).length;
    for (let i = 1; i <= 5; i += 1) {
      expect((await ask(email)).status).toBe(200);
      await expect.poll(countEvents).toBe(i);
      await deliver();
    }
    const paths = received.map(({ text }) => /(\/settings\/welcome\S+)/.exec(text)?.[1] ?? '');
    expect(new Set(paths).size).toBe(5);
    for (const path of paths)
      expect(toReadable((await new Browser(api).get(path)).text)).toContain(email);
  });

  test('is mailed no more while ten links are in the mailbox, and a new password ends all', async () => {
    const now = toInstant(new Date());
    const { id, email } = await aPerson(api, accountId);
    await aMailChannel(api.store);
    const links = [];
    for (let i = 0; i < 12; i += 1) links.push(await insertMailedLink(api.db, id, now));
    expect(links.map((link) => link !== undefined).indexOf(false)).toBe(10);
    await requestLink(api.db, email, { now, address: '192.0.2.1' });
    expect(await api.db.selectFrom('event').select('id').execute()).toEqual([]);
    const change = { passwordHash: 'x', now, address: '192.0.2.1', link: links[3] as string };
    await updatePassword(api.db, id, change);
    expect(await api.db.selectFrom('one_time_link').select('sha256').execute()).toEqual([]);
  });

  test('has no page without a mail server', async () => {
    const without = await serveApi();
    const browser = new Browser(without);
    expect((await browser.get(FORGOTTEN)).status).toBe(404);
    expect((await browser.post(FORGOTTEN, { email: 'ada@example.com' })).status).toBe(404);
    expect((await browser.get('/settings/sign-in')).text).not.toContain(FORGOTTEN);
    expect((await new Browser(api).get('/settings/sign-in')).text).toContain(FORGOTTEN);
  });
});

describe('the page of a person’s mail', () => {
  test('begins with alerts at once for an owner, and stores what is chosen', async () => {
    const { browser, email } = await aSignedIn(api, accountId);
    const { text } = await browser.get(MAIL);
    expect(text).toMatch(/value="at_once" checked/);
    expect(text).not.toContain('not configured');
    const saved = await browser.post(MAIL, { alerts: 'daily', summary: 'yes' });
    expect([saved.status, saved.headers['location']]).toEqual([303, MAIL]);
    const after = (await browser.get(MAIL)).text;
    expect(after).toMatch(/value="daily" checked/);
    expect(after).toMatch(/value="yes" checked/);
    expect(email).toMatch(/@/);
    expect((await browser.post(MAIL, { alerts: 'hourly' })).status).toBe(422);
  });

  test('leaves domains of the account out, and takes them in again', async () => {
    const { browser } = await aSignedIn(api, accountId);
    const { id, name } = await aDomain(api.db, accountId);
    const { name: foreign } = await aDomain(api.db, await aBareAccount(api.db));
    expect((await browser.post(`${MAIL}/left-out`, { domain: foreign })).status).toBe(404);
    await browser.post(`${MAIL}/left-out`, { domain: ` ${name.toUpperCase()}. ` });
    expect((await browser.get(MAIL)).text).toContain(`${MAIL}/left-out/${id}/delete`);
    await browser.post(`${MAIL}/left-out/${id}/delete`);
    expect((await browser.get(MAIL)).text).toContain('every domain of the account');
  });

  test('says that mail is not configured', async () => {
    const without = await serveApi();
    const { browser } = await aSignedIn(without, await aBareAccount(without.db));
    expect((await browser.get(MAIL)).text).toContain('Mail is not configured');
  });

  test('shows a refusal, and lets the person confirm the address', async () => {
    const { browser, id: personId } = await aSignedIn(api, accountId);
    const refused = { refusals: 3, refusal: '550 <b>No such person' };
    await api.db.write((tx) => tx.updateTable('person_mail').set(refused).execute());
    const { text } = await browser.get(MAIL);
    expect(text).toContain('550 &lt;b&gt;No such person');
    expect(text).toContain('You get no more mail');
    await browser.post(`${MAIL}/confirm`);
    expect(await findPersonMail(api.db, personId)).toMatchObject({ isStopped: false });
  });
});

describe('the link that ends a subscription', () => {
  async function aSubscriber() {
    const { id } = await aPerson(api, accountId);
    await updatePersonMail(api.db, id, { summary: 1 });
    const { link_key } = await api.db
      .selectFrom('person_mail')
      .select('link_key')
      .where('person_id', '=', id)
      .executeTakeFirstOrThrow();
    return { id, token: toUnsubscribeToken('alerts', id, link_key) };
  }
  const send = (method: 'get' | 'post', token: string) =>
    request(`http://127.0.0.1:${api.port}`)[method](`/settings/unsubscribe?token=${token}`);
  /** As RFC 8058 says: without a cookie, an origin or a page of ours. */
  const postOneClick = (token: string) =>
    send('post', token).type('form').send('List-Unsubscribe=One-Click');

  test('ends that one by one POST without signing in, and no other', async () => {
    const { id, token } = await aSubscriber();
    expect((await postOneClick(token)).status).toBe(200);
    expect(await findPersonMail(api.db, id)).toMatchObject({ alerts: 'none', hasSummary: true });
    expect((await postOneClick(token)).status).toBe(200);
  });

  test('ends it by a POST with a multipart form, as RFC 8058 prefers', async () => {
    const { id, token } = await aSubscriber();
    const { status } = await send('post', token).field('List-Unsubscribe', 'One-Click');
    expect(status).toBe(200);
    expect(await findPersonMail(api.db, id)).toMatchObject({ alerts: 'none', hasSummary: true });
  });

  test('shows a page, and ends nothing, when a program opens it', async () => {
    const { id, token } = await aSubscriber();
    const { status, text } = await send('get', token);
    expect([status, text]).toEqual([200, expect.stringContaining('End mail about alerts?')]);
    expect(await findPersonMail(api.db, id)).toMatchObject({ alerts: 'at_once' });
  });

  test('does nothing when it was changed', async () => {
    const { id, token } = await aSubscriber();
    const other = await aPerson(api, accountId);
    const forged = [
      token.replace('alerts', 'summary'),
      token.replace(id, other.id),
      `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`,
      token.slice(0, -1),
      'alerts',
      '',
      '%00',
    ];
    for (const one of forged) expect((await postOneClick(one)).status, one).toBe(404);
    const mails = await Promise.all([id, other.id].map((one) => findPersonMail(api.db, one)));
    expect(mails.map(({ alerts }) => alerts)).toEqual(['at_once', 'none']);
  });
});

describe('an invitation with a mail server', () => {
  test('shows no link to the owner, and the person gets it', async () => {
    const { deliver, received } = await aMailChannel(api.store);
    const { browser } = await aSignedIn(api, accountId);
    const { text } = await browser.post('/settings/people', { email: 'new@example.com' });
    expect(text).toContain('gets a mail with a link');
    expect(text).not.toContain('welcome?link=');
    await deliver();
    expect(received.map(({ to }) => to)).toEqual([['new@example.com']]);
  });

  test('shows it without one', async () => {
    const without = await serveApi();
    const { browser } = await aSignedIn(without, await aBareAccount(without.db));
    const { text } = await browser.post('/settings/people', { email: 'new@example.com' });
    expect(text).toContain('welcome?link=');
  });

  test('that the server refuses is shown on the page of people', async () => {
    const { browser } = await aSignedIn(api, accountId);
    const { id } = await invitePerson(api.db, { accountId, email: 'new@example.com', now: NOW });
    await api.db.write((tx) =>
      tx
        .updateTable('person_mail')
        .set({ refusal: '550 No' })
        .where('person_id', '=', id)
        .execute(),
    );
    expect((await browser.get('/settings/people')).text).toContain('Mail refused');
  });
});
