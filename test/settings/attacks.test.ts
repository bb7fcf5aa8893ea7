import { beforeEach, describe, expect, test } from 'vitest';
import { insertApiKey, listApiKeys } from '../../src/store/accounts/api-keys.ts';
import { updateDisabled } from '../../src/store/people/person-changes.ts';
import { findSession } from '../../src/store/people/sessions.ts';
import { type Api, serveApi } from '../support/api.ts';
import {
  aBareAccount,
  aDomain,
  aKey,
  anAlert,
  aReport,
  NOW,
  receive,
} from '../support/builders.ts';
import { aPerson, aVisitor, Browser, KEYS, PASSWORD, withoutToken } from '../support/visitor.ts';

let api: Api;
let accountId: string;

beforeEach(async () => {
  api = await serveApi();
  accountId = await aBareAccount(api.db);
});

const keyNames = async () => (await listApiKeys(api.db, accountId)).map(({ name }) => name);

describe('forged requests', () => {
  test.each([
    ['another site', { 'Sec-Fetch-Site': 'cross-site' }],
    ['a host under the same domain', { 'Sec-Fetch-Site': 'same-site' }],
    ['another origin, from a browser without Sec-Fetch-Site', { Origin: 'https://evil.example' }],
    ['our host on another port', { Origin: 'http://127.0.0.1:1' }],
    ['an opaque origin', { Origin: 'null' }],
    ['a file', { Origin: 'file://' }],
    ['an unknown site', {}],
    [
      'another site that adds our Origin',
      { 'Sec-Fetch-Site': 'cross-site', Origin: 'http://127.0.0.1' },
    ],
  ])('a form from %s is rejected, even with the token', async (_who, headers) => {
    const { browser } = await aVisitor(api, accountId);
    const { status } = await browser.post(KEYS, { name: 'forged' }, headers as never);
    expect([status, await keyNames()]).toEqual([403, []]);
  });

  test.each([
    ['none', ''],
    ['a made-up one', 'A'.repeat(43)],
    ['one that is too long', 'A'.repeat(5000)],
  ])('a form with %s for a token is rejected, from our own page as well', async (_what, token) => {
    const { browser } = await aVisitor(api, accountId);
    const { status } = await browser.post(KEYS, { name: 'forged', form_token: token });
    expect([status, await keyNames()]).toEqual([403, []]);
  });

  test('another person’s token is rejected', async () => {
    const { browser } = await aVisitor(api, accountId);
    const { browser: other } = await aVisitor(api, accountId);
    const { status } = await browser.post(KEYS, { name: 'x', form_token: other.formToken });
    expect(status).toBe(403);
  });

  test('pages are compressed, and the token in them is another one each time', async () => {
    const { browser } = await aVisitor(api, accountId);
    const pages = await Promise.all(
      ['gzip', 'br', 'identity'].map((coding) => browser.get(KEYS, { 'Accept-Encoding': coding })),
    );
    expect(pages.map(({ headers }) => headers['content-encoding'])).toEqual([
      'gzip',
      'br',
      undefined,
    ]);
    expect(pages[0]?.headers['vary']).toContain('Accept-Encoding');
    const [first = '', , last = ''] = pages.map(
      ({ text }) => /name="form_token" value="([^"]+)"/.exec(text)?.[1] ?? '',
    );
    expect(first).not.toBe(last);
    for (const token of [first, last])
      expect(
        (await browser.post(KEYS, { name: token.slice(0, 5), form_token: token })).status,
      ).toBe(200);
  });

  test('a form of our own is accepted: by Sec-Fetch-Site, and by Origin on plain HTTP', async () => {
    const { browser } = await aVisitor(api, accountId);
    expect((await browser.post(KEYS, { name: 'a' })).status).toBe(200);
    const origin = { Origin: `http://127.0.0.1:${api.port}` };
    expect((await browser.post(KEYS, { name: 'b' }, origin)).status).toBe(200);
    expect(await keyNames()).toEqual(expect.arrayContaining(['a', 'b']));
  });

  test('a sign-in form from another site is rejected', async () => {
    const { email } = await aPerson(api, accountId);
    const fields = { email, password: PASSWORD };
    const answer = await new Browser(api).post('/settings/sign-in', fields, {
      'Sec-Fetch-Site': 'cross-site',
    });
    expect(answer.status).toBe(403);
    expect(answer.headers).not.toHaveProperty('set-cookie');
  });

  test.each(['enable', 'disable', 'delete'])('GET changes nothing: %s', async (verb) => {
    const { keyId } = await aKey(api.db, accountId);
    const { browser } = await aVisitor(api, accountId);
    await browser.get(`${KEYS}/${keyId}/${verb}`);
    expect(await listApiKeys(api.db, accountId)).toMatchObject([{ enabled: true }]);
  });
});

describe('stolen and planted sessions', () => {
  test('signing in does not continue a session that was planted before', async () => {
    const { email } = await aPerson(api, accountId);
    const victim = new Browser(api);
    victim.cookie = 'plumbline-session=planted-by-somebody';
    await victim.signIn(email);
    expect(victim.cookie).not.toBe('plumbline-session=planted-by-somebody');
    const thief = new Browser(api);
    thief.cookie = 'plumbline-session=planted-by-somebody';
    expect((await thief.get(KEYS)).status).toBe(303);
  });

  test('an attacker’s own session, planted, ends when the victim signs in', async () => {
    const { browser: attacker } = await aVisitor(api, accountId);
    const { email } = await aPerson(api, accountId);
    const victim = new Browser(api);
    victim.cookie = attacker.cookie;
    await victim.get(KEYS);
    await victim.signIn(email);
    expect((await attacker.get(KEYS)).status).toBe(303);
    expect((await victim.get('/settings/account')).text).toContain(email);
  });

  test('a stolen cookie is invalid after signing out', async () => {
    const { browser } = await aVisitor(api, accountId);
    const thief = new Browser(api);
    thief.cookie = browser.cookie;
    expect((await thief.get(KEYS)).status).toBe(200);
    expect((await browser.post('/settings/sign-out')).status).toBe(303);
    expect((await thief.get(KEYS)).status).toBe(303);
  });

  test('a stolen cookie is invalid after the person was disabled or has changed their password', async () => {
    const { browser, id } = await aVisitor(api, accountId);
    const thief = new Browser(api);
    thief.cookie = browser.cookie;
    const fresh = 'another plumb line';
    await browser.post('/settings/security/password', {
      current: PASSWORD,
      new: fresh,
      again: fresh,
    });
    expect([(await thief.get(KEYS)).status, (await browser.get(KEYS)).status]).toEqual([303, 200]);
    await updateDisabled(api.db, id, true);
    expect((await browser.get(KEYS)).status).toBe(303);
  });

  test('the database contains nothing with which somebody can sign in', async () => {
    const { browser } = await aVisitor(api, accountId);
    const token = browser.cookie.split('=')[1] as string;
    const { sha256 } = await api.db
      .selectFrom('session')
      .select('sha256')
      .executeTakeFirstOrThrow();
    expect(await findSession(api.store.reader, token, NOW)).toBeDefined();
    expect(
      await findSession(api.store.reader, Buffer.from(sha256).toString('hex'), NOW),
    ).toBeUndefined();
    const rows = JSON.stringify([
      await api.db.selectFrom('session').selectAll().execute(),
      await api.db.selectFrom('person').selectAll().execute(),
    ]);
    expect(rows).not.toContain(token);
    expect(rows).not.toContain(browser.formToken);
    expect(rows).toContain('$argon2id$v=19$m=19456,t=2,p=1$');
  });
});

describe("another account's things", () => {
  const NO_SUCH = '00000000-0000-4000-8000-000000000000';

  test('are not found, with the same page as ids that do not exist', async () => {
    const foreign = await aBareAccount(api.db);
    const { id: keyId } = await insertApiKey(api.db, {
      accountId: foreign,
      name: 'theirs',
      now: NOW,
    });
    const { id: domainId } = await aDomain(api.db, foreign);
    const { browser: theirs } = await aVisitor(api, foreign);
    const { id: sessionId } = await api.db
      .selectFrom('session')
      .select('id')
      .executeTakeFirstOrThrow();
    const { browser } = await aVisitor(api, accountId);
    const pages = [
      ['GET', (id: string) => `/settings/domains/${id}`, domainId],
      ['GET', (id: string) => `${KEYS}/${id}/delete`, keyId],
      ['POST', (id: string) => `${KEYS}/${id}/delete`, keyId],
      ['POST', (id: string) => `${KEYS}/${id}/enable`, keyId],
      ['POST', (id: string) => `${KEYS}/${id}/disable`, keyId],
      ['POST', (id: string) => `/settings/security/sessions/${id}`, sessionId],
    ] as const;
    for (const [method, toPath, id] of pages) {
      const ask = (path: string) => (method === 'GET' ? browser.get(path) : browser.post(path));
      const [real, made] = [await ask(toPath(id)), await ask(toPath(NO_SUCH))];
      expect([real.status, made.status]).toEqual([404, 404]);
      expect(withoutToken(real.text.replaceAll(id, ''))).toBe(
        withoutToken(made.text.replaceAll(NO_SUCH, '')),
      );
    }
    expect(await listApiKeys(api.db, foreign)).toMatchObject([{ id: keyId, enabled: true }]);
    expect((await theirs.get(KEYS)).status).toBe(200);
  });

  test.each(['x', '%', '%zz', "'--", '..', `${'a'.repeat(3000)}`])(
    'an id like %.10s is a page that does not exist',
    async (id) => {
      const { browser } = await aVisitor(api, accountId);
      const { status, headers } = await browser.get(`/settings/domains/${id}`);
      expect([404, 422]).toContain(status);
      expect(headers['cache-control']).toBe('no-store');
    },
  );

  test('are not on any page', async () => {
    const foreign = await aBareAccount(api.db);
    await aKey(api.db, foreign, 'their secret plan');
    const theirs = await aDomain(api.db, foreign, { name: 'theirs.example' });
    await anAlert(api.db, { accountId: foreign, domainId: theirs.id });
    const { email } = await aPerson(api, foreign);
    const { browser } = await aVisitor(api, accountId);
    for (const path of ['overview', 'integrations/api-keys', 'account', 'security', 'audit']) {
      const { text, status } = await browser.get(`/settings/${path}`);
      expect(status).toBe(200);
      for (const word of ['secret plan', 'theirs.example', email, 'Pass rate fell']) {
        expect(text).not.toContain(word);
      }
    }
  });
});

describe('stored scripts', () => {
  const EVIL = `"><script>alert(1)</script><img src=x onerror='alert(2)'>`;

  test('is escaped: in names of keys, domains and reporters, e-mail addresses, alerts, user agents', async () => {
    const domain = await aDomain(api.db, accountId, { name: 'example.com' });
    await receive(api.db, [aReport({ orgName: EVIL })]);
    await anAlert(
      api.db,
      { accountId, domainId: domain.id },
      { type: EVIL, context: { [EVIL]: EVIL } },
    );
    const nasty = 'alert.dns_record_changed';
    const context = { record_type: 'TXT', previous_value: EVIL, current_value: EVIL };
    await anAlert(api.db, { accountId, domainId: domain.id }, { type: nasty, context });
    await api.db.write((tx) => tx.updateTable('domain').set({ name: EVIL }).execute());
    await api.db.write((tx) => tx.updateTable('account').set({ name: EVIL }).execute());
    const { browser } = await aVisitor(api, accountId);
    await api.db.write((tx) => tx.updateTable('person').set({ email: EVIL }).execute());
    await api.db.write((tx) =>
      tx.updateTable('session').set({ user_agent: EVIL, address: EVIL }).execute(),
    );
    const created = await browser.post(KEYS, { name: EVIL });
    expect(created.status).toBe(200);
    const [key] = await listApiKeys(api.db, accountId);
    const switched = await browser.post(`${KEYS}/${key?.id}/disable`);
    expect(switched.status).toBe(303);
    const pages = [
      created,
      await browser.get(KEYS),
      await browser.get(`${KEYS}/${key?.id}/delete`),
      await browser.get('/settings/overview'),
      await browser.get(`/settings/domains/${domain.id}`),
      await browser.get('/settings/account'),
      await browser.get('/settings/security'),
      await browser.get('/settings/audit'),
      await browser.post(KEYS, { name: EVIL.repeat(5) }),
      await browser.get(`/settings/nothing/${encodeURIComponent(EVIL)}`),
    ];
    for (const { text } of pages) {
      expect(text).not.toContain('<script>alert');
      expect(text).not.toContain('<img');
      expect(text).toContain('&lt;script&gt;alert(1)');
    }
  });

  test('e-mail address and target of a rejected sign-in are escaped', async () => {
    const fields = { email: EVIL, password: 'x', next: EVIL };
    const { text } = await new Browser(api).post('/settings/sign-in', fields);
    expect(text).toContain('&lt;script&gt;');
    expect(text).not.toContain('<script>alert');
  });
});

describe('every page', () => {
  test('is no-store, has nothing inline or from other origins, and cannot be framed', async () => {
    const { browser } = await aVisitor(api, accountId);
    await aDomain(api.db, accountId);
    const answers = [
      await new Browser(api).get('/settings/sign-in'),
      await new Browser(api).get('/settings/welcome?link=nothing'),
      await browser.get('/settings/overview'),
      await browser.post(KEYS, { name: 'k' }),
      await browser.get('/settings/security'),
      await browser.get('/settings/nothing'),
      await browser.post(KEYS, {}, {}),
    ];
    for (const { headers, text } of answers) {
      expect(headers['cache-control']).toBe('no-store');
      expect(headers['referrer-policy']).toBe('same-origin');
      const policy = headers['content-security-policy'];
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
      expect(text).not.toMatch(/<style|style="|javascript:|\son[a-z]+="/);
      expect(text).not.toMatch(/(src|href)="(https?:)?\/\//);
      for (const [script] of text.matchAll(/<script[^>]*>[^<]*/g)) {
        expect(script).toMatch(
          /^<script src="\/settings\/assets\/[a-z]+\.[0-9a-f]{12}\.js" defer>$/,
        );
      }
    }
  });

  test('assets are immutable, and named by their content', async () => {
    const { browser } = await aVisitor(api, accountId);
    const { text } = await browser.get(KEYS);
    const paths = [...text.matchAll(/(?:href|src)="(\/settings\/assets\/[^"]+)"/g)];
    expect(paths).toHaveLength(5);
    for (const [, path = ''] of paths) {
      const { status, headers } = await new Browser(api).get(path, { 'Accept-Encoding': 'gzip' });
      expect([status, headers['cache-control']]).toEqual([
        200,
        'public, max-age=31536000, immutable',
      ]);
    }
  });

  test('a defect is logged, and the page has none of its text', async () => {
    const { browser } = await aVisitor(api, accountId);
    await api.db.write((tx) => tx.schema.dropTable('audit').execute());
    const { status, text } = await browser.get('/settings/audit');
    expect(status).toBe(500);
    expect(text).not.toMatch(/no such table|does not exist|sqlite|postgres/i);
    expect(api.logged.some(({ msg }) => msg === 'unexpected error')).toBe(true);
  });
});

describe('somebody with a stolen session', () => {
  test('who sends six hundred forms is stopped, and the person can still end the session', async () => {
    const { browser, email } = await aVisitor(api, accountId);
    const own = new Browser(api);
    await own.signIn(email);
    for (let sent = 0; sent < 600; sent++) await browser.post('/settings/nothing');
    expect((await browser.post('/settings/nothing')).status).toBe(429);
    expect((await own.post('/settings/security/sessions/others')).status).toBe(303);
    expect((await browser.get('/settings/overview')).status).toBe(303);
  });
});
