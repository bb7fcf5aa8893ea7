import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { listAudit } from '../../src/store/events/audit.ts';
import { updateDisabled, updateRole } from '../../src/store/people/person-changes.ts';
import { findSignedOn } from '../../src/store/people/single-sign-on.ts';
import { type Api, startApi } from '../support/api.ts';
import { aBareAccount, NOW } from '../support/builders.ts';
import { aPerson, aSignedIn, type Browser, openFor, toReadable } from '../support/visitor.ts';

const PEOPLE = '/settings/people';

let api: Api;
let accountId: string;
/** The account's first person, who is an owner. */
let owner: { readonly id: string; readonly email: string; readonly browser: Browser };

beforeAll(async () => {
  api = await startApi();
  return api.close;
});
beforeEach(async () => {
  accountId = await aBareAccount(api.db);
  owner = await aSignedIn(api, accountId);
});

const look = async (browser: Browser, path = PEOPLE) => (await browser.get(path)).status;
const people = () =>
  api.db.selectFrom('person').selectAll().where('account_id', '=', accountId).execute();
const actions = async () =>
  (await listAudit(api.db, accountId, { limit: 100 })).map(({ action, actor, subject }) => [
    action,
    actor,
    subject,
  ]);

describe('the page of people', () => {
  test('says who can sign in, since when they did not, and with how many sessions', async () => {
    const { email } = await aSignedIn(api, accountId);
    await aPerson(api, accountId);
    const read = toReadable((await owner.browser.get(PEOPLE)).text);
    expect(read).toMatch(new RegExp(`${owner.email} You Owner .*Your sessions`));
    expect(read).toMatch(new RegExp(`${email} just now 1 off Sign out Disable`));
    expect(read).toMatch(/never 0 off Disable/);
    expect(read).toContain('3 of 200');
  });

  test('is for owners: a member sees neither the page nor its link, and changes nothing', async () => {
    const member = await aSignedIn(api, accountId);
    expect((await member.browser.get('/settings/account')).text).not.toContain(`href="${PEOPLE}"`);
    expect((await owner.browser.get('/settings/account')).text).toContain(`href="${PEOPLE}"`);
    expect(await look(member.browser)).toBe(403);
    for (const path of ['', '/second-factor', `/${owner.id}/disable`, `/${owner.id}/sign-out`]) {
      const { status } = await member.browser.post(`${PEOPLE}${path}`, { email: 'x@example.com' });
      expect(status, path).toBe(403);
    }
    expect(await people()).toHaveLength(2);
    expect(await look(owner.browser)).toBe(200);
  });

  test('people of another account are not found', async () => {
    const other = await aPerson(api, await aBareAccount(api.db));
    for (const verb of ['disable', 'enable', 'sign-out', 'link'])
      expect((await owner.browser.post(`${PEOPLE}/${other.id}/${verb}`)).status, verb).toBe(404);
  });
});

describe('inviting', () => {
  const invite = (email: string) => owner.browser.post(PEOPLE, { email });
  const toLink = (text: string) => /\/settings\/welcome\?link=[\w-]{43}/.exec(text)?.[0] as string;

  test('shows a link once, with which the person chooses a password', async () => {
    const { status, text } = await invite(' ada@invited.example ');
    expect(status).toBe(200);
    expect(toReadable(text)).toContain('Give this link to ada@invited.example');
    expect(await look(owner.browser, toLink(text))).toBe(200);
    const later = (await owner.browser.get(PEOPLE)).text;
    expect(toLink(later)).toBeUndefined();
    expect(toReadable(later)).toMatch(/ada@invited.example Invited never 0 off New link Withdraw/);
    expect(await actions()).toContainEqual(['person_invited', owner.email, 'ada@invited.example']);
  });

  test('a new link replaces the first one, and there is none for a person with a password', async () => {
    const first = toLink((await invite('bob@invited.example')).text);
    const [{ id = '' } = {}] = (await people()).filter(({ email }) => email.startsWith('bob'));
    const second = toLink((await owner.browser.post(`${PEOPLE}/${id}/link`)).text);
    expect([await look(owner.browser, first), await look(owner.browser, second)]).toEqual([
      404, 200,
    ]);
    const member = await aPerson(api, accountId);
    expect((await owner.browser.post(`${PEOPLE}/${member.id}/link`)).status).toBe(403);
  });

  test('there is no new link for a person who has signed in at the OpenID provider', async () => {
    await invite('eve@invited.example');
    const [{ id = '' } = {}] = (await people()).filter(({ email }) => email.startsWith('eve'));
    const identity = { subject: 'https://login.example.com eve', email: 'eve@invited.example' };
    await findSignedOn(api.db, identity, { now: NOW, address: '192.0.2.1' });
    const { status, text } = await owner.browser.post(`${PEOPLE}/${id}/link`);
    expect([status, toReadable(text)]).toEqual([403, expect.stringContaining('single sign-on')]);
  });

  test('somebody who is invited already is in the list, and the refusal says so', async () => {
    await invite('twice@invited.example');
    const { status, text } = await invite('Twice@INVITED.example');
    expect(status).toBe(409);
    expect(toReadable(text)).toContain('This person is in the list below.');
  });

  test('an address that somebody has is refused in words that do not say where', async () => {
    const other = await aPerson(api, await aBareAccount(api.db));
    const { status, text } = await invite(other.email);
    expect(status).toBe(409);
    expect(toReadable(text)).toContain('cannot be invited: somebody has it already');
    expect((await invite('no address')).status).toBe(422);
  });

  test('is withdrawn by an owner: the link ends, and another account can invite the address', async () => {
    const link = toLink((await invite('zoe@invited.example')).text);
    const [{ id = '' } = {}] = (await people()).filter(({ email }) => email.startsWith('zoe'));
    const stranger = await aSignedIn(api, await aBareAccount(api.db));
    const path = `${PEOPLE}/${id}/withdraw`;
    expect((await stranger.browser.post(path)).status).toBe(404);
    expect((await stranger.browser.post(PEOPLE, { email: 'zoe@invited.example' })).status).toBe(
      409,
    );
    expect((await owner.browser.post(path)).status).toBe(303);
    expect(toReadable((await owner.browser.get(PEOPLE)).text)).toContain(
      'The invitation of zoe@invited.example is withdrawn.',
    );
    expect(await look(owner.browser, link)).toBe(404);
    expect((await stranger.browser.post(PEOPLE, { email: 'zoe@invited.example' })).status).toBe(
      200,
    );
    expect(await actions()).toContainEqual(['person_deleted', owner.email, 'zoe@invited.example']);
  });

  test('a person who has a password is not deleted', async () => {
    const member = await aPerson(api, accountId);
    expect((await owner.browser.post(`${PEOPLE}/${member.id}/withdraw`)).status).toBe(409);
    expect(await people()).toHaveLength(2);
  });

  test('leaves at most twenty invitations open, and is refused after fifty in a day, until it ends', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    for (let i = 0; i < 20; i++) expect((await invite(`p${i}@many.example`)).status).toBe(200);
    const { status, text } = await invite('p20@many.example');
    expect([status, toReadable(text)]).toEqual([
      409,
      expect.stringContaining('20 invitations are open'),
    ]);
    for (let i = 21; i < 50; i++) await invite('no address');
    const left = async () => {
      const { status, headers, text } = await invite('p51@many.example');
      return [status, headers['retry-after'], / in (\d+ \w+)\./.exec(toReadable(text))?.[1]];
    };
    expect(await left()).toEqual([429, '86400', '24 hours']);
    vi.advanceTimersByTime(20.5 * 3_600_000);
    expect(await left()).toEqual([429, '12600', '4 hours']);
    vi.advanceTimersByTime(3.5 * 3_600_000 - 59_000);
    expect(await left()).toEqual([429, '59', '1 minute']);
    const other = await aSignedIn(api, await aBareAccount(api.db));
    expect((await other.browser.post(PEOPLE, { email: `x@many.example` })).status).toBe(200);
  });

  test('two hundred people are the most', async () => {
    const rows = Array.from({ length: 199 }, (_, i) => ({
      ...{ id: randomUUID(), account_id: accountId, email: `p${i}`, disabled: 1 as const },
      ...{ email_key: `${accountId}-${i}`, password_hash: 'x', single_sign_on: null },
      ...{ role: 'member' as const, created_at: NOW },
    }));
    await api.db.write((tx) => tx.insertInto('person').values(rows).execute());
    const { status, text } = await invite('one-more@invited.example');
    expect([status, toReadable(text)]).toEqual([
      409,
      expect.stringContaining('at most 200 people'),
    ]);
  });
});

describe('disabling', () => {
  test('ends the sessions of a person at once, and they stay ended when the person is enabled', async () => {
    const member = await aSignedIn(api, accountId);
    expect((await owner.browser.post(`${PEOPLE}/${member.id}/disable`)).status).toBe(303);
    expect(await look(member.browser, '/settings/account')).toBe(303);
    expect(toReadable((await owner.browser.get(PEOPLE)).text)).toContain(
      'is disabled, and signed out',
    );
    await owner.browser.post(`${PEOPLE}/${member.id}/enable`);
    expect(await look(member.browser, '/settings/account')).toBe(303);
    expect((await actions()).slice(0, 2)).toEqual([
      ['person_enabled', owner.email, member.email],
      ['person_disabled', owner.email, member.email],
    ]);
  });

  test('an owner cannot disable themselves', async () => {
    expect((await owner.browser.post(`${PEOPLE}/${owner.id}/disable`)).status).toBe(403);
    expect(await look(owner.browser)).toBe(200);
  });

  test('two owners who disable one another at once leave one', async () => {
    const second = await aSignedIn(api, accountId);
    await updateRole(api.db, second.id, 'owner');
    const answers = await Promise.all([
      owner.browser.post(`${PEOPLE}/${second.id}/disable`),
      second.browser.post(`${PEOPLE}/${owner.id}/disable`),
    ]);
    expect(answers.filter(({ status }) => status === 303).length).toBeGreaterThan(0);
    const enabled = (await people()).filter((one) => one.role === 'owner' && one.disabled === 0);
    expect(enabled).toHaveLength(1);
  });

  test('a request of an owner who was disabled meanwhile changes nothing', async () => {
    const member = await aPerson(api, accountId);
    await updateDisabled(api.db, owner.id, true);
    const by = { name: owner.email, personId: owner.id, accountId, address: null, at: NOW };
    const late = updateDisabled(api.db, member.id, true, by);
    await expect(late).rejects.toMatchObject({ code: 'forbidden' });
  });
});

test('signing a person out ends every session of theirs', async () => {
  const member = await aSignedIn(api, accountId);
  const elsewhere = await openFor(api, member.id);
  await owner.browser.post(`${PEOPLE}/${member.id}/sign-out`);
  expect([await look(member.browser), await look(elsewhere)]).toEqual([303, 303]);
  expect((await openFor(api, member.id)).formToken).not.toBe('');
});

test('the only owner cannot become a member', async () => {
  const demoted = updateRole(api.db, owner.id, 'member');
  await expect(demoted).rejects.toMatchObject({ code: 'conflict' });
  const { id } = await aPerson(api, accountId);
  await updateRole(api.db, id, 'owner');
  expect((await updateRole(api.db, owner.id, 'member')).role).toBe('member');
});

test('an owner without a second factor cannot require one of others', async () => {
  const { status } = await owner.browser.post(`${PEOPLE}/second-factor`, { required: 'yes' });
  expect(status).toBe(403);
});
