import { beforeEach, describe, expect, test, vi } from 'vitest';
import { Failure } from '../../src/domain/failure.ts';
import { insertPerson } from '../../src/store/people/new-people.ts';
import { insertOneTimeLink } from '../../src/store/people/passwords.ts';
import { updateDisabled } from '../../src/store/people/person-changes.ts';
import { type Api, serveApi } from '../support/api.ts';
import { aBareAccount, NOW } from '../support/builders.ts';
import { aPerson, aVisitor, Browser, PASSWORD, toReadable } from '../support/visitor.ts';

const WELCOME = '/settings/welcome';
const NEW = 'as straight as a plumb line';

let api: Api;
let accountId: string;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.setSystemTime(new Date(NOW));
  api = await serveApi();
  accountId = await aBareAccount(api.db);
  return () => void vi.useRealTimers();
});

describe('a one-time link', () => {
  const choose = (browser: Browser, link: string, password = NEW, again = password) =>
    browser.post(WELCOME, { link, new: password, again });

  async function anInvitation() {
    const person = { accountId, email: 'ada@example.com', passwordHash: null, now: NOW };
    const { id, email } = await insertPerson(api.db, person);
    return { id, email, link: await insertOneTimeLink(api.db, id, NOW) };
  }

  test('lets a person choose a password, and signs them in', async () => {
    const { link, email } = await anInvitation();
    const browser = new Browser(api);
    expect(toReadable((await browser.get(`${WELCOME}?link=${link}`)).text)).toContain(email);
    const { status, headers } = await choose(browser, link);
    expect([status, headers['location']]).toEqual([303, '/settings/overview']);
    expect((await browser.get('/settings/overview')).status).toBe(200);
    expect((await new Browser(api).signIn(email, NEW)).status).toBe(303);
  });

  test('works in a browser where somebody else is signed in', async () => {
    const { browser } = await aVisitor(api, accountId);
    const { link, email } = await anInvitation();
    const { text } = await browser.get(`${WELCOME}?link=${link}`);
    const [form = ''] =
      /<form method="post" action="\/settings\/welcome">.*?<\/form>/s.exec(text) ?? [];
    browser.formToken = /name="form_token" value="([^"]+)"/.exec(form)?.[1] ?? '';
    expect((await choose(browser, link)).status).toBe(303);
    expect((await browser.get('/settings/account')).text).toContain(email);
  });

  test('works once, however often it was opened', async () => {
    const { link } = await anInvitation();
    await new Browser(api).get(`${WELCOME}?link=${link}`);
    const attempts = [1, 2, 3, 4].map(() => choose(new Browser(api), link));
    const statuses = (await Promise.all(attempts)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([303, 404, 404, 404]);
    expect((await new Browser(api).get(`${WELCOME}?link=${link}`)).status).toBe(404);
  });

  test('is invalid after 24 hours, after a newer one, and for a disabled person', async () => {
    const { link, id } = await anInvitation();
    const look = async (of: string) => (await new Browser(api).get(`${WELCOME}?link=${of}`)).status;
    vi.setSystemTime(new Date('2026-03-16T04:12:08Z'));
    expect(await look(link)).toBe(200);
    vi.setSystemTime(new Date('2026-03-16T04:12:09Z'));
    expect(await look(link)).toBe(404);
    const [older, newer] = [
      await insertOneTimeLink(api.db, id, '2026-03-16T04:12:09Z'),
      await insertOneTimeLink(api.db, id, '2026-03-16T04:12:09Z'),
    ];
    expect([await look(older), await look(newer)]).toEqual([404, 200]);
    await updateDisabled(api.db, id, true);
    expect(await look(newer)).toBe(404);
    await updateDisabled(api.db, id, false);
    expect(await look(newer)).toBe(404);
  });

  test('a rejected password does not use up the link', async () => {
    const { link } = await anInvitation();
    const browser = new Browser(api);
    expect((await choose(browser, link, 'too short')).status).toBe(422);
    expect((await choose(browser, link, 'x'.repeat(201))).status).toBe(422);
    const { status, text } = await choose(browser, link, NEW, 'another one than before');
    expect([status, toReadable(text)]).toEqual([422, expect.stringContaining('not the same')]);
    expect((await choose(browser, link)).status).toBe(303);
  });

  test('for a forgotten password ends every open session', async () => {
    const { id, browser, email } = await aVisitor(api, accountId);
    const link = await insertOneTimeLink(api.db, id, NOW);
    expect((await browser.get('/settings/account')).status).toBe(200);
    await choose(new Browser(api), link);
    expect((await browser.get('/settings/account')).status).toBe(303);
    expect((await new Browser(api).signIn(email)).status).toBe(401);
  });

  test('is not logged', async () => {
    const { link } = await anInvitation();
    await new Browser(api).get(`${WELCOME}?link=${link}`);
    expect(JSON.stringify(api.logged)).not.toContain(link);
  });
});

describe('changing the password', () => {
  const change = (browser: Browser, current: string, next = NEW) =>
    browser.post('/settings/security/password', { current, new: next, again: next });

  test('needs the current one, and signs out everywhere else', async () => {
    const { browser, email } = await aVisitor(api, accountId);
    const elsewhere = new Browser(api);
    await elsewhere.signIn(email);
    const wrong = await change(browser, 'not the right one');
    expect([wrong.status, toReadable(wrong.text)]).toEqual([
      422,
      expect.stringContaining('This is not your password'),
    ]);
    expect((await change(browser, PASSWORD, 'short')).status).toBe(422);
    expect((await change(browser, PASSWORD)).status).toBe(303);
    const page = await browser.get('/settings/security');
    expect(toReadable(page.text)).toContain('Your password is changed.');
    expect((await elsewhere.get('/settings/security')).status).toBe(303);
    expect((await new Browser(api).signIn(email)).status).toBe(401);
    expect((await new Browser(api).signIn(email, NEW)).status).toBe(303);
  });

  test('does not allow guessing the password', async () => {
    const { browser } = await aVisitor(api, accountId);
    const guesses = Array.from({ length: 15 }, () => change(browser, 'not the right one'));
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 422)).toHaveLength(10);
    expect((await change(browser, PASSWORD)).status).toBe(429);
  });
});

describe('sessions', () => {
  test('are listed with browser and address, and can be ended one by one or all others at once', async () => {
    const { browser, email } = await aVisitor(api, accountId);
    const others = await Promise.all(
      [1, 2, 3].map(async () => {
        const other = new Browser(api);
        await other.signIn(email);
        return other;
      }),
    );
    const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
    await api.db.write((tx) => tx.updateTable('session').set({ user_agent: firefox }).execute());
    const { text } = await browser.get('/settings/security');
    expect(toReadable(text).match(/Firefox on Linux/g)).toHaveLength(4);
    expect(toReadable(text)).toContain('127.0.0.1');
    expect(text.match(/This one/g)).toHaveLength(1);
    const end = /action="(\/settings\/security\/sessions\/[0-9a-f-]{36})"/.exec(text)?.[1];
    expect((await browser.post(end as string)).status).toBe(303);
    const open = async () =>
      (await Promise.all(others.map((other) => other.get('/settings/account')))).filter(
        ({ status }) => status === 200,
      ).length;
    expect(await open()).toBe(2);
    await browser.post('/settings/security/sessions/others');
    expect(await open()).toBe(0);
    expect(toReadable((await browser.get('/settings/security')).text)).toContain(
      '2 other sessions ended',
    );
  });
});

describe('people', () => {
  test('the account page shows name, plan and people', async () => {
    // The page sorts people by address.
    const { browser, email } = await aVisitor(api, accountId, 'olga@example.com');
    const other = await aPerson(api, accountId, 'paul@example.com');
    await updateDisabled(api.db, other.id, true);
    const invited = { accountId, email: 'new@example.com', passwordHash: null, now: NOW };
    await insertPerson(api.db, invited);
    const read = toReadable((await browser.get('/settings/account')).text);
    expect(read).toContain('Name Example Plan Pro');
    expect(read).toMatch(
      new RegExp(`new@.* Invited ${email} .* You Owner ${other.email} .* Disabled`),
    );
  });

  test('an e-mail address belongs to one person, whatever its spelling', async () => {
    await aPerson(api, accountId, 'ada@example.com');
    await expect(aPerson(api, accountId, 'ADA@example.com')).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  test.each([
    '',
    'ada',
    'ada@example',
    'a b@example.com',
    '<ada@example.com>',
    `${'a'.repeat(65)}@example.com`,
  ])('“%s” is not an e-mail address', async (email) => {
    await expect(aPerson(api, accountId, email)).rejects.toThrow(Failure);
  });
});
