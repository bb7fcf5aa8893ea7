import { verify } from '@node-rs/argon2';
import request from 'supertest';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { updateDisabled } from '../../src/store/people/person-changes.ts';
import { type Api, serveApi } from '../support/api.ts';
import { aBareAccount, NOW } from '../support/builders.ts';
import { aPerson, aVisitor, Browser, KEYS, PASSWORD, toReadable } from '../support/visitor.ts';

/** The library itself, with its calls recorded. */
vi.mock('@node-rs/argon2', async (importOriginal) => {
  const argon2 = await importOriginal<typeof import('@node-rs/argon2')>();
  return { ...argon2, verify: vi.fn(argon2.verify) };
});

let api: Api;
let accountId: string;

beforeEach(async () => {
  api = await serveApi({ trustedProxies: ['127.0.0.1'] });
  accountId = await aBareAccount(api.db);
});

describe('POST /settings/sign-in', () => {
  test('with the right password opens a session, and leads to the overview', async () => {
    const { email } = await aPerson(api, accountId);
    const browser = new Browser(api);
    const { status, headers } = await browser.signIn(email);
    expect([status, headers['location']]).toEqual([303, '/settings/overview']);
    const { text } = await browser.get('/settings/overview');
    expect(text).toContain(email);
  });

  test('accepts any spelling of the e-mail address', async () => {
    await aPerson(api, accountId, 'Ada@Example.com');
    expect((await new Browser(api).signIn(' aDA@example.COM')).status).toBe(303);
  });

  test('the cookie is HttpOnly, SameSite and for the whole host; on HTTPS it is __Host- and Secure', async () => {
    const { email } = await aPerson(api, accountId);
    const send = (headers: Record<string, string>) =>
      new Browser(api).post(
        '/settings/sign-in',
        { email, password: PASSWORD },
        { 'Sec-Fetch-Site': 'same-origin', ...headers },
      );
    const plain = String((await send({})).headers['set-cookie']);
    const secure = String((await send({ 'X-Forwarded-Proto': 'https' })).headers['set-cookie']);
    for (const cookie of [plain, secure]) {
      expect(cookie).toMatch(/; HttpOnly/);
      expect(cookie).toMatch(/; SameSite=Lax/);
      expect(cookie).toMatch(/; Path=\/(;|$)/);
      expect(cookie).not.toMatch(/Domain/i);
    }
    expect(plain).toMatch(/^plumbline-session=/);
    expect(plain).not.toMatch(/Secure/);
    expect(secure).toMatch(/^__Host-plumbline-session=/);
    expect(secure).toMatch(/; Secure/);
  });

  test('one answer, at the cost of one verification, for a wrong password, an unknown, a disabled and an invited person', async () => {
    const known = await aPerson(api, accountId);
    const disabled = await aPerson(api, accountId);
    await updateDisabled(api.db, disabled.id, true);
    const invited = await aPerson(api, accountId);
    await api.db.write((tx) =>
      tx.updateTable('person').set({ password_hash: null }).where('id', '=', invited.id).execute(),
    );
    const attempts = [
      [known.email, 'not the right one'],
      [disabled.email, PASSWORD],
      [invited.email, PASSWORD],
      [invited.email, ''],
      ['nobody@example.com', PASSWORD],
      ['', ''],
    ] as const;
    vi.mocked(verify).mockClear();
    const answers = await Promise.all(
      attempts.map(async ([email, password]) => {
        const { status, text, headers } = await new Browser(api).signIn(email, password);
        expect(headers).not.toHaveProperty('set-cookie');
        return `${status} ${text.replaceAll(`value="${email}"`, 'value=""')}`;
      }),
    );
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toMatch(/^401 .*The e-mail address or the password is wrong/s);
    // The time depends on the machine. Equal work is what makes it equal.
    const costs = vi
      .mocked(verify)
      .mock.calls.map(([hash]) => /^(\$[^$]*){3}/.exec(`${hash}`)?.[0]);
    expect(costs).toEqual(attempts.map(() => '$argon2id$v=19$m=19456,t=2,p=1'));
  });

  test.each([
    ['/settings/integrations/api-keys', '/settings/integrations/api-keys'],
    ['/settings/audit?kind=key&q=a%26b', '/settings/audit?kind=key&q=a%26b'],
    [
      '/settings/domains/d/sources/192.0.2.1?days=90#x',
      '/settings/domains/d/sources/192.0.2.1?days=90',
    ],
    ['/settings/domains/d/sources/2001:db8::1', '/settings/domains/d/sources/2001:db8::1'],
    ['/settings', '/settings/overview'],
    ['/settings/../sign-out', '/settings/overview'],
    ['javascript:alert(1)', '/settings/overview'],
    ['/docs/', '/settings/overview'],
    [`/settings/audit?q=${'x'.repeat(2_000)}`, '/settings/overview'],
    ['https://evil.example/', '/settings/overview'],
    ['//evil.example/', '/settings/overview'],
    ['/settings/../..//evil.example', '/settings/overview'],
    ['/settings//evil.example', '/settings/overview'],
    ['/settings/\\evil.example', '/settings/overview'],
  ])('afterwards, next=%s redirects to %s', async (next, location) => {
    const { email } = await aPerson(api, accountId);
    const fields = { email, password: PASSWORD, next };
    const { headers } = await new Browser(api).post('/settings/sign-in', fields);
    expect(headers['location']).toBe(location);
  });

  test('an invalid form gets a page with status 4xx', async () => {
    const { status, text } = await new Browser(api).post('/settings/sign-in', {
      email: 'x'.repeat(20_000),
    });
    expect(status).toBe(422);
    expect(text).toContain('could not be read');
  });
});

describe('brute force', () => {
  const from = (address: string) => ({
    'Sec-Fetch-Site': 'same-origin',
    'X-Forwarded-For': address,
  });
  const guess = (email: string, address: string, password = 'not the right one') =>
    new Browser(api).post('/settings/sign-in', { email, password }, from(address));

  test.each(['a known person', 'an unknown person'])(
    'ten failed attempts for %s, from any address, then 429, also with the right password',
    async (who) => {
      vi.useFakeTimers({ toFake: ['Date', 'performance'] });
      onTestFinished(() => void vi.useRealTimers());
      const email =
        who === 'an unknown person' ? 'nobody@example.com' : (await aPerson(api, accountId)).email;
      const guesses = Array.from({ length: 20 }, (_, i) => guess(email, `192.0.2.${i}`));
      const statuses = (await Promise.all(guesses)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 401)).toHaveLength(10);
      expect(statuses.filter((status) => status === 429)).toHaveLength(10);
      const { status, headers, text } = await guess(email, '198.51.100.1', PASSWORD);
      expect([status, headers['retry-after']]).toEqual([429, '900']);
      expect(text).toContain('Try again in 15 minutes');
    },
  );

  test('thirty failed attempts from one address, for any person, then 429; other addresses are not affected', async () => {
    const { email } = await aPerson(api, accountId);
    for (let i = 0; i < 30; i++) {
      expect((await guess(`n${i}@example.com`, '192.0.2.1')).status).toBe(401);
    }
    expect((await guess(email, '192.0.2.1', PASSWORD)).status).toBe(429);
    expect((await guess(email, '192.0.2.2', PASSWORD)).status).toBe(303);
  });

  test('successful sign-ins do not count as failed attempts', async () => {
    const { email } = await aPerson(api, accountId);
    for (let i = 0; i < 32; i++) {
      expect((await guess(email, '192.0.2.1', PASSWORD)).status).toBe(303);
    }
    expect((await guess(email, '192.0.2.1')).status).toBe(401);
  });

  test('a person can sign in sixty times, then 429', async () => {
    const { email } = await aPerson(api, accountId);
    const statuses: number[] = [];
    for (let i = 0; i < 62; i++) {
      statuses.push((await guess(email, `192.0.2.${i}`, PASSWORD)).status);
    }
    expect(statuses.filter((status) => status === 303)).toHaveLength(60);
    expect(statuses.slice(-2)).toEqual([429, 429]);
  });

  test('many at the same time, from many addresses: some are rejected with 503, and do not count', async () => {
    const { email } = await aPerson(api, accountId);
    const attempts = Array.from({ length: 100 }, (_, i) =>
      guess(`n${i}@example.com`, `192.0.2.${i}`),
    );
    const answers = await Promise.all(attempts);
    const refused = answers.filter(({ status }) => status === 503);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]?.headers['retry-after']).toBe('5');
    expect((await guess(email, '192.0.2.1', PASSWORD)).status).toBe(303);
  });

  test.each(['203.0.113.1:1', 'nonsense'])(
    'thirty failed attempts count together when the proxy sends X-Forwarded-For: %s and similar',
    async (value) => {
      const toHeader = (i: number) =>
        value === 'nonsense' ? `nonsense-${i}` : `203.0.113.1:${i + 1}`;
      for (let i = 0; i < 30; i++) {
        expect((await guess(`n${i}@example.com`, toHeader(i))).status).toBe(401);
      }
      expect((await guess('other@example.com', toHeader(30))).status).toBe(429);
    },
  );
});

describe('a session', () => {
  const at = (instant: string) => vi.setSystemTime(new Date(instant));
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] });
    at(NOW);
    return () => void vi.useRealTimers();
  });
  const isIn = async (browser: Browser) => (await browser.get('/settings/account')).status === 200;

  test('ends after seven days without use', async () => {
    const { browser } = await aVisitor(api, accountId);
    at('2026-03-22T04:12:08Z');
    expect(await isIn(browser)).toBe(true);
    at('2026-03-29T04:12:07Z');
    expect(await isIn(browser)).toBe(true);
    at('2026-04-05T04:12:07Z');
    expect(await isIn(browser)).toBe(false);
  });

  test('ends after thirty days of use', async () => {
    const { browser } = await aVisitor(api, accountId);
    for (let day = 15; day <= 31; day += 4) {
      at(`2026-03-${day}T12:00:00Z`);
      expect(await isIn(browser)).toBe(true);
    }
    at('2026-04-06T12:00:00Z');
    expect(await isIn(browser)).toBe(true);
    at('2026-04-12T12:00:00Z');
    expect(await isIn(browser)).toBe(true);
    at('2026-04-14T04:12:09Z');
    expect(await isIn(browser)).toBe(false);
  });

  test('without a session every page redirects to the sign-in, and back afterwards with its query', async () => {
    const browser = new Browser(api);
    const page = '/settings/domains/d/sources/192.0.2.1?days=90&failing=1';
    const { status, headers } = await browser.get(page);
    const signIn = `/settings/sign-in?next=${encodeURIComponent(page)}`;
    expect([status, headers['location']]).toEqual([303, signIn]);
    const { text } = await browser.get(signIn);
    expect(text).toContain(`name="next" value="${page.replaceAll('&', '&amp;')}"`);
    expect(toReadable(text)).not.toContain('has ended');
    expect((await browser.get('/settings/nothing')).status).toBe(303);
  });

  test('a script gets no page of another kind, but 401', async () => {
    const { status, text } = await new Browser(api).get(KEYS, { 'HX-Request': 'true' });
    expect([status, text]).toEqual([401, '']);
  });

  test('that has ended is named on the sign-in page', async () => {
    const { browser } = await aVisitor(api, accountId);
    await api.db.write((tx) => tx.deleteFrom('session').execute());
    const { headers } = await browser.get(KEYS);
    expect(toReadable((await browser.get(headers['location'] ?? '')).text)).toContain(
      'Your session has ended. Sign in to go on where you were.',
    );
  });

  test('that ends in the middle of a form gives back what was typed, and no password', async () => {
    const { email } = await aPerson(api, accountId);
    const post = async (path: string, form: Readonly<Record<string, string>>, cookie: string) =>
      await request(`http://127.0.0.1:${api.port}`)
        .post(path)
        .set({ 'Sec-Fetch-Site': 'same-origin', Cookie: cookie })
        .set('Referer', `http://127.0.0.1:${api.port}${KEYS}?a=b`)
        .type('form')
        .send(form);
    const form = { name: 'nightly "<b>', expires: '30', password: 'secret', code: '123456' };
    const lost = await post(KEYS, form, 'plumbline-session=gone');
    const signIn = `/settings/sign-in?next=${encodeURIComponent(`${KEYS}?a=b`)}`;
    expect([lost.status, lost.headers['location']]).toEqual([303, signIn]);
    const [kept = ''] = String(lost.headers['set-cookie']).split(';');
    expect(kept).toMatch(/^plumbline-lost=/);
    const page = await request(`http://127.0.0.1:${api.port}`).get(signIn).set('Cookie', kept);
    expect(page.text).toContain('so the form was not sent');
    const entered = await post(
      '/settings/sign-in',
      { email, password: PASSWORD, next: `${KEYS}?a=b` },
      kept,
    );
    expect(entered.headers['location']).toBe(`${KEYS}?a=b`);
    const [session = ''] = String(entered.headers['set-cookie']).split(';');
    const first = await request(`http://127.0.0.1:${api.port}`)
      .get(`${KEYS}?a=b`)
      .set('Cookie', `${session}; ${kept}`);
    expect(toReadable(first.text)).toContain(
      'nothing was done. You had entered “nightly "&lt;b&gt;”. Please send the form again.',
    );
    expect(first.text).toContain(
      'data-typed="{&quot;name&quot;:&quot;nightly \\&quot;&lt;b&gt;&quot;,&quot;expires&quot;:&quot;30&quot;}"',
    );
    expect(first.text).not.toMatch(/secret|123456/);
    expect(String(first.headers['set-cookie'])).toContain('plumbline-lost=; Max-Age=0');
  });

  test.each([
    'x',
    Buffer.from('[1]').toString('base64url'),
    Buffer.from('{"password":"p"}').toString('base64url'),
  ])('a cookie that is none of ours gives nothing back: %s', async (value) => {
    const { browser } = await aVisitor(api, accountId);
    const { text, status } = await browser.get(KEYS, {
      Cookie: `${browser.cookie}; plumbline-lost=${value}`,
    });
    expect(status).toBe(200);
    expect(text).not.toMatch(/data-typed="\{&/);
  });
});
