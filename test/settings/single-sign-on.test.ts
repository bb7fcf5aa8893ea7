import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '../../scripts/free-port.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { insertPerson } from '../../src/store/people/new-people.ts';
import { updateDisabled } from '../../src/store/people/person-changes.ts';
import { aBareAccount, NOW } from '../support/builders.ts';
import { printed } from '../support/command.ts';
import { runServer } from '../support/running-server.ts';

const PROVIDER = fileURLToPath(new URL('../support/openid-provider.ts', import.meta.url));
const SIGN_ON_PATH = '/settings/single-sign-on';
const EMAIL = 'ada@example.com';

/** A browser that follows redirects between hosts, with the cookies of each. */
class Traveller {
  readonly #cookies = new Map<string, Map<string, string>>();

  async go(address: string, form?: Readonly<Record<string, string>>): Promise<Response> {
    const url = new URL(address);
    const jar = this.#cookies.get(url.origin) ?? new Map<string, string>();
    this.#cookies.set(url.origin, jar);
    const answer = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...jar].map((cookie) => cookie.join('=')).join('; ') },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      jar.set(name, value);
    }
    return answer;
  }

  /** Follows redirects to the first page, or to the first address that begins with `until`. */
  async follow(address: string, until = '\n'): Promise<{ url: string; answer?: Response }> {
    let url = address;
    while (!url.startsWith(until)) {
      const answer = await this.go(url);
      const location = answer.headers.get('location');
      if (location === null) return { url, answer };
      url = new URL(location, url).href;
    }
    return { url };
  }
}

let store: Store;
let url: string;
let accountId: string;

beforeEach(async () => {
  const port = await findFreePort();
  url = `http://127.0.0.1:${port}`;
  const provider = spawn(process.execPath, [PROVIDER, `${url}${SIGN_ON_PATH}/callback`]);
  onTestFinished(() => void provider.kill());
  const issuer = (await printed(provider, /\n/)).trim();
  const running = await runServer({
    PLUMBLINE_PORT: String(port),
    PLUMBLINE_BASE_URL: url,
    PLUMBLINE_OIDC_ISSUER: issuer,
    PLUMBLINE_OIDC_CLIENT_ID: 'plumbline',
    PLUMBLINE_OIDC_CLIENT_SECRET: 's3cret',
  });
  ({ store } = running);
  accountId = await aBareAccount(store.db);
});

const invite = () =>
  insertPerson(store.db, { accountId, email: EMAIL, passwordHash: null, now: NOW });

/** Signs in at the provider and consents; returns the URL that the provider redirects to. */
async function signInAtProvider(browser: Traveller, login: string, next = ''): Promise<string> {
  const login1 = await browser.follow(`${url}${SIGN_ON_PATH}?next=${next}`);
  const afterLogin = await submit(browser, login1.url, { prompt: 'login', login, password: 'x' });
  const consent = await browser.follow(afterLogin, `${url}${SIGN_ON_PATH}/callback`);
  if (consent.answer === undefined) return consent.url;
  const afterConsent = await submit(browser, consent.url, { prompt: 'consent' });
  return (await browser.follow(afterConsent, `${url}${SIGN_ON_PATH}/callback`)).url;
}

async function submit(browser: Traveller, page: string, form: Record<string, string>) {
  const answer = await browser.go(page, form);
  return new URL(answer.headers.get('location') as string, page).href;
}

async function arrive(browser: Traveller, login: string, next = '') {
  return await browser.go(await signInAtProvider(browser, login, next));
}

const isIn = async (browser: Traveller) =>
  (await browser.go(`${url}/settings/account`)).status === 200;

describe('single sign-on', () => {
  test('is offered on the sign-in page, and signs in a person that the provider knows', async () => {
    await invite();
    const browser = new Traveller();
    const page = await (await browser.go(`${url}/settings/sign-in`)).text();
    expect(page).toContain(`href="${SIGN_ON_PATH}?next="`);
    const answer = await arrive(browser, EMAIL, '/settings/audit');
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/settings/audit']);
    expect(await isIn(browser)).toBe(true);
  });

  test.each([
    ['an unknown e-mail address', 'nobody@example.com'],
    ['an e-mail address that is not verified', `unverified:${EMAIL}`],
  ])('%s cannot sign in', async (_what, login) => {
    await invite();
    const browser = new Traveller();
    const answer = await arrive(browser, login);
    expect([answer.status, await isIn(browser)]).toEqual([401, false]);
  });

  test('a disabled person cannot sign in, even after signing in this way before', async () => {
    const { id } = await invite();
    await arrive(new Traveller(), EMAIL);
    await updateDisabled(store.db, id, true);
    const browser = new Traveller();
    expect((await arrive(browser, EMAIL)).status).toBe(401);
    expect(await isIn(browser)).toBe(false);
  });

  test('an address that the provider later gives to another person does not sign them in', async () => {
    await invite();
    await arrive(new Traveller(), EMAIL);
    const successor = new Traveller();
    expect((await arrive(successor, `other:${EMAIL}`)).status).toBe(401);
    expect(await isIn(successor)).toBe(false);
    expect((await arrive(new Traveller(), EMAIL)).status).toBe(303);
  });

  test('a callback that another browser started signs nobody in', async () => {
    await invite();
    const attacker = new Traveller();
    const callback = await signInAtProvider(attacker, EMAIL);
    const victim = new Traveller();
    expect((await victim.go(callback)).status).toBe(401);
    await victim.follow(`${url}${SIGN_ON_PATH}`);
    expect((await victim.go(callback)).status).toBe(401);
    expect(await isIn(victim)).toBe(false);
  });

  test('a callback works once, and not with a changed code or state', async () => {
    await invite();
    const browser = new Traveller();
    const callback = await signInAtProvider(browser, EMAIL);
    expect((await browser.go(callback.replace('state=', 'state=x'))).status).toBe(401);
    const other = new Traveller();
    const whole = await signInAtProvider(other, EMAIL);
    expect((await other.go(whole)).status).toBe(303);
    expect((await other.go(whole)).status).toBe(401);
  });
});

test('a provider that does not answer is reported; passwords still work', async () => {
  const { server } = await runServer({
    PLUMBLINE_BASE_URL: url,
    PLUMBLINE_OIDC_ISSUER: `http://127.0.0.1:${await findFreePort()}`,
    PLUMBLINE_OIDC_CLIENT_ID: 'plumbline',
    PLUMBLINE_OIDC_CLIENT_SECRET: 's3cret',
  });
  const answer = await new Traveller().go(`${server.url}${SIGN_ON_PATH}`);
  expect([answer.status, await answer.text()]).toEqual([
    401,
    expect.stringContaining('Single sign-on did not work'),
  ]);
  expect((await new Traveller().go(`${server.url}/settings/sign-in`)).status).toBe(200);
});
