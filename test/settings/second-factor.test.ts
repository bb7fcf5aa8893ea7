import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateSync } from 'otplib';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { listAudit } from '../../src/store/events/audit.ts';
import { insertOneTimeLink } from '../../src/store/people/passwords.ts';
import { updateSecondFactorRequired } from '../../src/store/people/people.ts';
import { resetSecondFactor } from '../../src/store/people/second-factors.ts';
import { type Api, startApi } from '../support/api.ts';
import { aBareAccount, NOW } from '../support/builders.ts';
import { aSignedIn, Browser, openFor, PASSWORD, toReadable } from '../support/visitor.ts';

const PAGE = '/settings/second-factor';
const CODE = '/settings/sign-in/code';

let api: Api;
let accountId: string;
const folder = mkdtempSync(join(tmpdir(), 'plumbline-key-'));
const path = join(folder, 'plumbline.db.key');

beforeAll(async () => {
  api = await startApi({ secretsKeyFile: { path, isMade: true } });
});
afterAll(async () => {
  await api.close();
  rmSync(folder, { recursive: true });
});

let hours = 0;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  // Limits of attempts are those of a window: each test is in one of its own.
  hours += 1;
  vi.setSystemTime(new Date(Date.parse(NOW) + hours * 3_600_000));
  accountId = await aBareAccount(api.db);
  return () => void vi.useRealTimers();
});

const wait = (seconds: number) => vi.setSystemTime(new Date(Date.now() + seconds * 1000));
const codeOf = (secret: string, ago = 0) =>
  generateSync({ secret, epoch: Math.floor(Date.now() / 1000) - ago });

async function start(browser: Browser) {
  await browser.post(`${PAGE}/start`);
  const page = await browser.get(PAGE);
  const secret = /readonly spellcheck="false">([A-Z2-7 ]+)</.exec(page.text)?.[1] ?? '';
  return { page, secret: secret.replaceAll(' ', '') };
}

const confirm = (browser: Browser, code: string, password = PASSWORD) =>
  browser.post(`${PAGE}/confirm`, { code, password });

/** Sets a second factor up in a browser that is signed in. */
async function setUp(browser: Browser) {
  const { page, secret } = await start(browser);
  const answer = await confirm(browser, codeOf(secret));
  const codes = answer.text.match(/[0-9a-z]{4}(-[0-9a-z]{4}){3}/g) ?? [];
  wait(30);
  return { secret, answer, codes, page };
}

async function aPersonWithFactor() {
  const person = await aSignedIn(api, accountId);
  return { ...person, ...(await setUp(person.browser)) };
}

/** A browser in which the password was entered. */
async function aPending(email: string, next = '') {
  const browser = new Browser(api);
  const answer = await browser.post('/settings/sign-in', { email, password: PASSWORD, next });
  return { browser, answer };
}

const actions = async () =>
  (await listAudit(api.db, accountId, { limit: 100, kind: 'person' })).map(({ action }) => action);

describe('setting up a second factor', () => {
  test('shows a QR code and the secret, and a code turns it on; ten recovery codes are shown once', async () => {
    const { browser, page, answer, codes, secret } = await aPersonWithFactor();
    expect(page.text).toMatch(/<svg class="qr"[^>]*role="img" aria-label="QR code/);
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    expect([answer.status, new Set(codes).size]).toEqual([200, 10]);
    const later = toReadable((await browser.get(PAGE)).text);
    expect(later).toContain('Your second factor is on');
    expect(later).toContain('10 recovery codes left');
    expect(later).not.toContain(codes[0]);
    expect(await actions()).toContain('second_factor_on');
    expect(JSON.stringify(api.logged)).not.toContain(secret);
  });

  test('a wrong code leaves it off, and the page can be loaded again', async () => {
    const { browser } = await aSignedIn(api, accountId);
    await start(browser);
    const wrong = await confirm(browser, '000000x');
    expect([wrong.status, wrong.text.includes('aria-invalid="true"')]).toEqual([422, true]);
    expect((await browser.get('/settings/security')).text).toContain('Set up a second factor');
  });

  test('needs the password, which it does not allow guessing: a stolen session shuts nobody out', async () => {
    const { id, browser } = await aSignedIn(api, accountId);
    const other = await openFor(api, id);
    const { secret } = await start(browser);
    const guesses = Array.from({ length: 12 }, () => confirm(browser, codeOf(secret), 'a guess'));
    const answers = await Promise.all(guesses);
    const refused = answers.filter(({ status }) => status === 422);
    expect(refused).toHaveLength(10);
    expect(toReadable(refused[0]?.text ?? '')).toContain('This is not your password');
    expect((await confirm(browser, codeOf(secret))).status).toBe(429);
    expect((await other.get('/settings/security')).text).toContain('Set up a second factor');
  });

  test('a secret that cannot be decrypted any more is replaced by a new one', async () => {
    const { id, browser } = await aSignedIn(api, accountId);
    await start(browser);
    await api.db.write((tx) =>
      tx
        .updateTable('second_factor')
        .set({ sealed_secret: 'v1.x' })
        .where('person_id', '=', id)
        .execute(),
    );
    const { status, text } = await browser.get(PAGE);
    expect([status, toReadable(text)]).toEqual([
      200,
      expect.stringContaining('Your second factor is off'),
    ]);
    expect((await setUp(browser)).answer.status).toBe(200);
  });

  test('signs the person out everywhere else', async () => {
    const { id, browser } = await aSignedIn(api, accountId);
    const other = await openFor(api, id);
    await setUp(browser);
    expect((await other.get('/settings/account')).status).toBe(303);
    expect((await browser.get('/settings/account')).status).toBe(200);
  });

  test('the database has no secret in the clear, and the key is in a file that only its owner reads', async () => {
    const { secret, codes } = await aPersonWithFactor();
    const rows = JSON.stringify([
      await api.db.selectFrom('second_factor').selectAll().execute(),
      await api.db.selectFrom('recovery_code').selectAll().execute(),
    ]);
    for (const text of [secret, codes[0] as string]) expect(rows).not.toContain(text);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(Buffer.from(readFileSync(path, 'utf8'), 'base64')).toHaveLength(32);
  });
});

describe('signing in with a second factor', () => {
  test('asks for a code on a second page, and leads to the page that was wanted', async () => {
    const { email, secret } = await aPersonWithFactor();
    const { browser, answer } = await aPending(email, '/settings/audit');
    expect(answer.headers['location']).toBe(`${CODE}?next=%2Fsettings%2Faudit`);
    expect((await browser.get('/settings/account')).status).toBe(303);
    expect(toReadable((await browser.get(`${CODE}?next=/settings/audit`)).text)).toContain(email);
    const done = await browser.post(CODE, { code: codeOf(secret), next: '/settings/audit' });
    expect([done.status, done.headers['location']]).toEqual([303, '/settings/audit']);
    expect((await browser.get('/settings/account')).status).toBe(200);
  });

  test('a code works once, also the one that turned the factor on', async () => {
    const { email, secret } = await aPersonWithFactor();
    const [one, two] = [await aPending(email), await aPending(email)];
    const code = codeOf(secret);
    const before = await one.browser.post(CODE, { code: codeOf(secret, 30) });
    expect([before.status, toReadable(before.text)]).toEqual([
      401,
      expect.stringContaining('wrong, or was used already'),
    ]);
    const statuses = await Promise.all(
      [one, two].map(async ({ browser }) => (await browser.post(CODE, { code })).status),
    );
    expect(statuses.toSorted()).toEqual([303, 401]);
  });

  test('a code of the step before is accepted, one from two steps before is not', async () => {
    const { email, secret } = await aPersonWithFactor();
    wait(120);
    const { browser } = await aPending(email);
    expect((await browser.post(CODE, { code: codeOf(secret, 60) })).status).toBe(401);
    expect((await browser.post(CODE, { code: codeOf(secret, 30) })).status).toBe(303);
  });

  test('a recovery code that is used twice at once works once, as people type it', async () => {
    const { email, codes } = await aPersonWithFactor();
    const browsers = [await aPending(email), await aPending(email)];
    const code = ` ${(codes[0] as string).toUpperCase().replaceAll('-', ' ')}`;
    const statuses = await Promise.all(
      browsers.map(async ({ browser }) => (await browser.post(CODE, { code })).status),
    );
    expect(statuses.toSorted()).toEqual([303, 401]);
    expect((await actions()).filter((action) => action === 'recovery_code_used')).toHaveLength(1);
  });

  test('five wrong codes end the attempts for a quarter of an hour, in every browser', async () => {
    const { email, secret } = await aPersonWithFactor();
    const [one, two] = [await aPending(email), await aPending(email)];
    const guesses = Array.from({ length: 7 }, () => one.browser.post(CODE, { code: '12345' }));
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(5);
    expect((await two.browser.post(CODE, { code: codeOf(secret) })).status).toBe(429);
  });

  test('wrong codes count together on all pages', async () => {
    const { browser, email, secret } = await aPersonWithFactor();
    const change = (path: string, code: string) =>
      browser.post(`${PAGE}/${path}`, { password: PASSWORD, code });
    const pending = await aPending(email);
    const wrong = [
      ...[await change('off', '12345'), await change('codes', '12345')],
      await change('off', 'k3v9-0gqs-71mz-x4ht'),
      await pending.browser.post(CODE, { code: '12345' }),
      await pending.browser.post(CODE, { code: '12345' }),
    ];
    expect(wrong.map(({ status }) => status)).toEqual([422, 422, 422, 401, 401]);
    expect((await change('off', codeOf(secret))).status).toBe(429);
    expect((await pending.browser.post(CODE, { code: codeOf(secret) })).status).toBe(429);
  });

  test('neither new recovery codes nor wrong passwords count as wrong codes', async () => {
    const { browser, email, secret, codes } = await aPersonWithFactor();
    let [code = ''] = codes;
    for (let count = 0; count < 6; count += 1) {
      const { status, text } = await browser.post(`${PAGE}/codes`, { password: PASSWORD, code });
      expect(status).toBe(200);
      code = /[0-9a-z]{4}(-[0-9a-z]{4}){3}/.exec(text)?.[0] ?? '';
    }
    const guess = { password: 'a guess', code: '12345' };
    await Promise.all(Array.from({ length: 6 }, () => browser.post(`${PAGE}/off`, guess)));
    const pending = await aPending(email);
    expect((await pending.browser.post(CODE, { code: codeOf(secret) })).status).toBe(303);
  });

  test('works in a browser where somebody else is signed in', async () => {
    const { email, secret } = await aPersonWithFactor();
    const other = await aSignedIn(api, accountId);
    const { browser } = await aPending(email);
    browser.cookie += `; ${other.browser.cookie}`;
    const { text } = await browser.get(CODE);
    const form = text.slice(text.indexOf(`action="${CODE}"`));
    browser.formToken = /name="form_token" value="([^"]+)"/.exec(form)?.[1] ?? '';
    expect((await browser.post(CODE, { code: codeOf(secret) })).status).toBe(303);
  });

  test('the second page needs the password first, in this browser and within ten minutes', async () => {
    const { email, secret } = await aPersonWithFactor();
    const stranger = await new Browser(api).post(CODE, { code: codeOf(secret) });
    expect([stranger.status, stranger.headers['location']]).toEqual([303, '/settings/sign-in']);
    const { browser } = await aPending(email);
    wait(600);
    const late = await browser.post(CODE, { code: codeOf(secret) });
    expect(late.headers['location']).toBe('/settings/sign-in');
  });

  test('a one-time link chooses a password, and does not replace the code', async () => {
    const { id } = await aPersonWithFactor();
    const link = await insertOneTimeLink(api.db, id, new Date().toISOString());
    const browser = new Browser(api);
    const password = { new: 'as straight as a plumb line', again: 'as straight as a plumb line' };
    const answer = await browser.post('/settings/welcome', { link, ...password });
    expect(answer.headers['location']).toMatch(CODE);
    expect((await browser.get('/settings/account')).status).toBe(303);
  });
});

describe('turning it off', () => {
  test('needs the password and a code', async () => {
    const { browser, secret } = await aPersonWithFactor();
    const off = (password: string, code: string) => browser.post(`${PAGE}/off`, { password, code });
    expect((await off('not the right one', codeOf(secret))).status).toBe(422);
    expect((await off(PASSWORD, 'k3v9-0gqs-71mz-x4ht')).status).toBe(422);
    expect((await off(PASSWORD, codeOf(secret))).status).toBe(303);
    expect(toReadable((await browser.get(PAGE)).text)).toContain('Your second factor is off');
    expect(await actions()).toContain('second_factor_off');
  });

  test('new recovery codes replace the old ones', async () => {
    const { browser, email, secret, codes } = await aPersonWithFactor();
    const answer = await browser.post(`${PAGE}/codes`, {
      password: PASSWORD,
      code: codeOf(secret),
    });
    const fresh = answer.text.match(/[0-9a-z]{4}(-[0-9a-z]{4}){3}/g) ?? [];
    expect(fresh).toHaveLength(10);
    const pending = await aPending(email);
    expect((await pending.browser.post(CODE, { code: codes[0] as string })).status).toBe(401);
    expect((await pending.browser.post(CODE, { code: fresh[0] as string })).status).toBe(303);
  });

  test('the operator can reset it: the person is signed out, and the password suffices', async () => {
    const { id, browser, email } = await aPersonWithFactor();
    expect(await resetSecondFactor(api.db, id)).toBe(true);
    expect(await resetSecondFactor(api.db, id)).toBe(false);
    expect((await browser.get('/settings/account')).status).toBe(303);
    expect((await aPending(email)).answer.headers['location']).toBe('/settings/overview');
  });

  test('one that waits for its first code was not on: a reset removes it, and ends no session', async () => {
    const { id, browser } = await aSignedIn(api, accountId);
    await start(browser);
    expect(await resetSecondFactor(api.db, id)).toBe(false);
    expect(toReadable((await browser.get(PAGE)).text)).toContain('Your second factor is off');
    expect(await actions()).not.toContain('second_factor_reset');
  });
});

describe('an account that requires a second factor', () => {
  test('leads people without one to set it up before any other page, and lets them sign out', async () => {
    const { browser } = await aSignedIn(api, accountId);
    await updateSecondFactorRequired(api.db, accountId, true);
    for (const page of ['overview', 'security', 'people', 'integrations/api-keys']) {
      const { status, headers } = await browser.get(`/settings/${page}`);
      expect([status, headers['location']]).toEqual([303, PAGE]);
    }
    const form = await browser.post('/settings/integrations/api-keys', { name: 'x' });
    expect([form.status, form.headers['location']]).toEqual([303, PAGE]);
    const part = await browser.get('/settings/overview', { 'HX-Request': 'true' });
    expect(part.headers['hx-redirect']).toBe(PAGE);
    expect(toReadable((await browser.get(PAGE)).text)).toContain('Set it up to go on');
    await setUp(browser);
    expect((await browser.get('/settings/overview')).status).toBe(200);
    await browser.get('/settings/overview');
    expect((await browser.post('/settings/sign-out')).headers['location']).toBe(
      '/settings/sign-in',
    );
  });

  test('leaves people alone who signed in at the OpenID provider', async () => {
    const { id } = await aSignedIn(api, accountId);
    const single_sign_on = `https://login.example.com ${id}`;
    await api.db.write((tx) =>
      tx.updateTable('person').set({ single_sign_on }).where('id', '=', id).execute(),
    );
    await updateSecondFactorRequired(api.db, accountId, true);
    const browser = await openFor(api, id, { proof: { single_sign_on } });
    expect((await browser.get('/settings/overview')).status).toBe(200);
  });
});
