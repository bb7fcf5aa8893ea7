import { describe, expect, test } from 'vitest';
import { updatePlan } from '../../src/store/leaving/plan-change.ts';
import { aBareAccount, aDomain } from '../support/builders.ts';
import { runServer } from '../support/running-server.ts';
import { aPerson, KEYS, PASSWORD } from '../support/visitor.ts';
import { browser, expectToFit, openWindow, toSettle, WIDTHS } from './chromium.ts';

const LOOKS = WIDTHS.flatMap((width) => [
  { width, javaScriptEnabled: true },
  { width, javaScriptEnabled: false },
]);

describe.each(LOOKS)('at $width pixels, scripts: $javaScriptEnabled', (look) => {
  async function start() {
    const { server, store } = await runServer();
    const accountId = await aBareAccount(store.db);
    await aDomain(store.db, accountId, { name: 'example.com' });
    const { email } = await aPerson(store, accountId);
    const { page, wrong } = await openWindow(server.url, look);
    const ask = async (key: string) => {
      const headers = { authorization: `Bearer ${key}` };
      return (await fetch(`${server.url}/v1/external/domains`, { headers })).status;
    };
    return { db: store.db, accountId, email, page, wrong, ask };
  }
  type Started = Awaited<ReturnType<typeof start>>;

  async function signIn({ page, email }: Pick<Started, 'page' | 'email'>) {
    await page.goto(KEYS);
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'API keys' }).waitFor();
  }

  async function createKey({ page }: Pick<Started, 'page'>, name: string): Promise<string> {
    // Behind a button as soon as there is a key.
    if (!(await page.getByLabel('Name').isVisible()))
      await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByLabel('Name').fill(name);
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('heading', { name: `Your new key “${name}”` }).waitFor();
    await toSettle(page);
    return await page.getByLabel('API key', { exact: true }).inputValue();
  }

  test('from signing in to a deleted key, and from leaving Pro to the eleventh key', async () => {
    const started = await start();
    const { page, ask, db, accountId, wrong } = started;
    await signIn(started);

    const key = await createKey(started, 'nightly');
    await expectToFit(page);
    if (look.javaScriptEnabled) {
      await page.getByRole('button', { name: 'Copy: API key' }).click();
      await page.getByText('Copied to the clipboard.').waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(key);
    } else {
      expect(await page.getByRole('button', { name: /^Copy/ }).count()).toBe(0);
    }
    expect(await page.getByLabel('Try it in a terminal', { exact: true }).inputValue()).toContain(
      key,
    );
    expect(await ask(key)).toBe(200);

    const theSwitch = page.getByRole('switch', { name: 'Accept requests with “nightly”' });
    await theSwitch.click();
    await page.getByRole('status').getByText('“nightly” is off').waitFor();
    expect([await theSwitch.getAttribute('aria-checked'), await ask(key)]).toEqual(['false', 401]);
    await theSwitch.click();
    await page.getByRole('status').getByText('“nightly” is on').waitFor();
    expect([await theSwitch.getAttribute('aria-checked'), await ask(key)]).toEqual(['true', 200]);
    expect(await page.content()).not.toContain(key);

    await page.getByRole('link', { name: 'Delete “nightly”' }).click();
    await page.getByRole('heading', { name: 'Delete “nightly”?' }).waitFor();
    await expectToFit(page);
    await page.getByText('Keep it').click();
    expect(await ask(key)).toBe(200);
    await page.getByRole('link', { name: 'Delete “nightly”' }).click();
    await page.getByRole('button', { name: 'Delete key' }).click();
    await page.getByRole('status').getByText('“nightly” is deleted').waitFor();
    expect(await ask(key)).toBe(401);

    const second = await createKey(started, 'second');
    await updatePlan(db, accountId, 'free');
    await page.goto(KEYS);
    await page.getByRole('heading', { name: 'The API is part of the Pro plan' }).waitFor();
    const secondSwitch = page.getByRole('switch', { name: /second/ });
    expect([await secondSwitch.isDisabled(), await ask(second)]).toEqual([true, 401]);
    await expectToFit(page);
    await updatePlan(db, accountId, 'pro');
    await page.goto(KEYS);
    expect(await secondSwitch.getAttribute('aria-checked')).toBe('false');
    expect(await ask(second)).toBe(401);
    await secondSwitch.click();
    await page.getByRole('status').getByText('“second” is on').waitFor();
    expect(await ask(second)).toBe(200);

    for (let i = 2; i <= 10; i++) await createKey(started, `key ${i}`);
    await page.getByRole('heading', { name: '10 of 10 keys' }).waitFor();
    expect(await page.getByText('Delete one to make room').isVisible()).toBe(true);
    expect(await page.getByLabel('Name').count()).toBe(0);
    expect(wrong).toEqual([]);
  });

  test('a key is not on the page that the browser goes back to', async () => {
    const started = await start();
    const { page } = started;
    await signIn(started);
    const key = await createKey(started, 'k');
    await page.getByRole('link', { name: 'Audit' }).click();
    await page.getByRole('heading', { name: 'Audit' }).waitFor();
    // Without JavaScript there is no page to go back to: the browser asks whether to send the form again.
    await page.goBack().catch(() => undefined);
    await expect.poll(() => page.content().catch(() => key)).not.toContain(key);
  });

  test('everything by keyboard', async () => {
    const started = await start();
    const { page, email, ask } = started;
    await page.goto(KEYS);
    await page.locator('#email:focus').waitFor();
    await page.keyboard.type(email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'API keys' }).waitFor();
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').textContent()).toBe('Skip to content');
    await page.keyboard.press('Enter');
    await pressTabTo(page, page.getByLabel('Name', { exact: true }));
    await page.keyboard.type('by hand');
    await page.keyboard.press('Enter');
    const field = page.getByLabel('API key', { exact: true });
    const key = await field.inputValue();
    await expect.poll(() => isFocused(field)).toBe(true);
    const theSwitch = page.getByRole('switch', { name: /by hand/ });
    await pressTabTo(page, theSwitch);
    await page.keyboard.press('Space');
    await page.getByText('“by hand” is off').waitFor();
    expect(await ask(key)).toBe(401);
    // With JavaScript the page stays, and so does the keyboard focus.
    if (look.javaScriptEnabled) await expect.poll(() => isFocused(theSwitch)).toBe(true);
  });
});

/** A link or two may come before it. */
async function pressTabTo(page: Page, locator: Locator): Promise<void> {
  for (let i = 0; i < 20 && !(await isFocused(locator)); i++) await page.keyboard.press('Tab');
}

type Page = Awaited<ReturnType<typeof openWindow>>['page'];
type Locator = ReturnType<Page['locator']>;

const isFocused = (locator: Locator) => locator.evaluate((element) => element.matches(':focus'));

test('Escape closes the dialog, and the keyboard focus returns', async () => {
  const { server, store } = await runServer();
  const { email } = await aPerson(store, await aBareAccount(store.db));
  const { page } = await openWindow(server.url, { width: 1440 });
  await page.goto(KEYS);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByLabel('Name').fill('k');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Your new key “k”' }).waitFor();
  await toSettle(page);
  await page.getByRole('link', { name: 'Delete “k”' }).press('Enter');
  await page.getByRole('dialog', { name: 'Delete “k”?' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await expect.poll(() => isFocused(page.getByRole('link', { name: 'Delete “k”' }))).toBe(true);
});

test('a field that the browser or an extension has styled is replaced without an error', async () => {
  const { server, store } = await runServer();
  const { email } = await aPerson(store, await aBareAccount(store.db));
  const { page, wrong } = await openWindow(server.url, { width: 1440 });
  await page.goto(KEYS);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.keyboard.press('Enter');
  const field = page.getByLabel('Name');
  await field.evaluate((element) => element.style.setProperty('caret-color', 'auto'));
  await field.fill('k');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Your new key “k”' }).waitFor();
  await toSettle(page);
  const theSwitch = page.getByRole('switch', { name: /k/ });
  await theSwitch.evaluate((element) => element.style.setProperty('color', 'inherit'));
  await theSwitch.click();
  await page.getByRole('status').getByText('is off').waitFor();
  await toSettle(page);
  expect(wrong).toEqual([]);
});

describe('an answer without the part that was asked for', () => {
  async function start() {
    const { server, store } = await runServer();
    const { email } = await aPerson(store, await aBareAccount(store.db));
    const { page } = await openWindow(server.url, { width: 1440 });
    const signIn = async (tab: typeof page) => {
      await tab.goto(KEYS);
      await tab.getByLabel('E-mail').fill(email);
      await tab.getByLabel('Password').fill(PASSWORD);
      await tab.keyboard.press('Enter');
      await tab.getByRole('heading', { name: 'API keys' }).waitFor();
    };
    await signIn(page);
    await page.getByLabel('Name').fill('first');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Your new key “first”' }).waitFor();
    await toSettle(page);
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByLabel('Name').fill('typed');
    return { page, signIn };
  }
  type Page = Awaited<ReturnType<typeof start>>['page'];

  async function expectToStay(page: Page, message: RegExp): Promise<void> {
    await page.getByRole('status').getByText(message).waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('typed');
    expect(await page.getByRole('switch', { name: /first/ }).isVisible()).toBe(true);
    expect(await page.getByRole('dialog').isVisible()).toBe(false);
  }
  const ACTIONS = [
    ['Create key', (page: Page) => page.getByRole('button', { name: 'Create key' }).click()],
    ['a switch', (page: Page) => page.getByRole('switch', { name: /first/ }).click()],
    ['Delete', (page: Page) => page.getByRole('link', { name: 'Delete “first”' }).click()],
  ] as const;

  test.each(ACTIONS)(
    'from a proxy, on %s, leaves the page as it is and says so',
    async (_what, act) => {
      const { page } = await start();
      await page.route('**/api-keys**', (route) =>
        route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad Gateway</h1>' }),
      );
      await act(page);
      await expectToStay(page, /No usable answer came back \(502\)/);
    },
  );

  test.each(ACTIONS)('because there is no connection, on %s, is a message', async (_what, act) => {
    const { page } = await start();
    await page.context().setOffline(true);
    await act(page);
    await expectToStay(page, /The service cannot be reached/);
  });

  test('because of another session in another tab is the reason in place', async () => {
    const { page, signIn } = await start();
    const tab = await page.context().newPage();
    await tab.goto(KEYS);
    await tab.getByRole('button', { name: 'Sign out' }).click();
    await tab.getByLabel('E-mail').waitFor();
    await signIn(tab);
    for (const [, act] of ACTIONS.slice(0, 2)) {
      await act(page);
      await expectToStay(page, /did not come from a page of your session/);
    }
  });
});

test.each([{ javaScriptEnabled: true }, { javaScriptEnabled: false }])(
  'a session that ends in the middle of a form leads back to its page, with what was typed: %o',
  async (look) => {
    const { server, store } = await runServer();
    const { email } = await aPerson(store, await aBareAccount(store.db));
    const { page } = await openWindow(server.url, { width: 360, ...look });
    const signIn = async () => {
      await page.getByLabel('E-mail').fill(email);
      await page.getByLabel('Password').fill(PASSWORD);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'API keys' }).waitFor();
    };
    await page.goto(KEYS);
    await signIn();
    await page.getByLabel('Name').fill('nightly');
    await page.getByLabel('Expires').selectOption('30');
    await store.db.write((tx) => tx.deleteFrom('session').execute());
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('Your session has ended, so the form was not sent').waitFor();
    await signIn();
    await page.getByRole('status').getByText('You had entered “nightly”').waitFor();
    if (look.javaScriptEnabled)
      expect([
        await page.getByLabel('Name').inputValue(),
        await page.getByLabel('Expires').inputValue(),
      ]).toEqual(['nightly', '30']);
  },
);

test('the program at the path is a browser', () => {
  expect(browser.version()).toMatch(/^\d+\./);
});
