import { setTimeout } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { toInstant } from '../../src/domain/instant.ts';
import { updateRouteCheck } from '../../src/store/alerts/dns-records.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { updatePlan } from '../../src/store/leaving/plan-change.ts';
import { insertOneTimeLink } from '../../src/store/people/passwords.ts';
import { aBareAccount, aDomain, aKey, anAlert, aReport, receive } from '../support/builders.ts';
import { runServer } from '../support/running-server.ts';
import { aPerson, KEYS } from '../support/visitor.ts';
import {
  expectToFit,
  findBarriers,
  findLayoutShifts,
  openWindow,
  shoot,
  signIn,
  WIDTHS,
} from './chromium.ts';

const LOOKS = WIDTHS.map((width) => ({ width }));
const LONG_NAME = `${'a-very-long-label-'.repeat(3)}x.${'and-another-one-'.repeat(3)}y.example`;
const DAY_MS = 86_400_000;
/** Of the latest reports. */
const ORGS: Readonly<Record<number, string>> = {
  1: LONG_NAME,
  2: `\u202e<script>alert(1)</script>${'\u0300'.repeat(50)}`,
  3: 'ספק דואר (מייל)',
  4: 'x'.repeat(5_000),
};

/** Its link is on the sign-in page; no test follows it here. Reports have an address of another owner. */
const WITH_ALL = {
  PLUMBLINE_REPORT_ADDRESS: 'aggregate-reports@dmarc-reports.example.net',
  PLUMBLINE_SMTP_NAME: 'dmarc-reports.example.net',
  PLUMBLINE_BASE_URL: 'https://dmarc.example.com',
  PLUMBLINE_OIDC_ISSUER: 'https://login.example.com',
  PLUMBLINE_OIDC_CLIENT_ID: 'plumbline',
  PLUMBLINE_OIDC_CLIENT_SECRET: 'unused',
};

/** An account with much data: long names, failures, gaps, alerts of each state. */
async function fill({ db }: Store) {
  const now = new Date();
  const accountId = await aBareAccount(db);
  const domain = await aDomain(db, accountId, { name: 'example.com' });
  await aDomain(db, accountId, { name: LONG_NAME });
  await aDomain(db, accountId, { name: 'xn--bcher-kva.example' });
  await receive(db, [aReport({ domain: 'xn--bcher-kva.example', begin: '2024-06-12T00:00:00Z' })]);
  const days = Array.from({ length: 40 }, (_, i) => i + 1).filter((ago) => ago % 9 !== 0);
  await receive(
    db,
    days.map((ago) =>
      aReport({
        begin: `${new Date(now.getTime() - ago * DAY_MS).toISOString().slice(0, 10)}T00:00:00Z`,
        orgName: ORGS[ago] ?? 'Mailbox Provider',
        totalMessages: 800 + ago * 13,
        alignedMessages: 780 + ago * 5 - (ago < 4 ? 300 : 0),
      }),
    ),
    now.toISOString(),
  );
  const owner = { accountId, domainId: domain.id };
  const context = { drop_pct: 31.4, prev_pass_rate: 98.74, curr_pass_rate: 67.34 };
  const about = (ago: number) => ({
    firedAt: new Date(now.getTime() - ago * DAY_MS).toISOString(),
    context: { ...context, day: toInstant(new Date(now.getTime() - ago * DAY_MS)).slice(0, 10) },
  });
  await anAlert(db, owner, { ...about(20), resolvedAt: about(15).firedAt });
  await anAlert(db, owner, about(3));
  const findings = [
    { check: 'rua', ok: false, text: `The record names only ${'long-'.repeat(30)}@example.org.` },
    { check: 'mx', ok: true, text: 'Mail to dmarc-reports.example.net goes to mx.example.net.' },
  ] as const;
  await updateRouteCheck(db, domain.id, { checkedAt: toInstant(now), findings });
  const { keyId } = await aKey(db, accountId, 'Security dashboard');
  await aKey(db, accountId, 'W'.repeat(100));
  const person = await aPerson({ db }, accountId);
  const invited = await aPerson({ db }, accountId, `${'long-'.repeat(12)}@mail.example.com`);
  const link = await insertOneTimeLink(db, invited.id, now.toISOString());
  return { accountId, domain, keyId, email: person.email, link };
}

/** Movement within half a second after a click is not counted, so a slow server makes it visible. */
async function answerSlowly(page: Page): Promise<void> {
  await page.route(`**${KEYS}**`, async (route) => {
    await setTimeout(600);
    await route.continue();
  });
}

describe.each(LOOKS)('every page at $width pixels', (look) => {
  test('has no accessibility violation, no movement, nothing too wide, and nothing that the policy forbids', async () => {
    const { server, store } = await runServer(WITH_ALL);
    const { accountId, domain, keyId, email, link } = await fill(store);
    const { page, wrong } = await openWindow(server.url, look);
    await answerSlowly(page);

    const check = async (name: string) => {
      expect(await findBarriers(page), name).toEqual([]);
      expect(await findLayoutShifts(page), name).toEqual([]);
      await expectToFit(page);
      expect(wrong, name).toEqual([]);
      await shoot(page, `${name}-${look.width}`);
    };
    const visit = async (name: string, path: string) => {
      await page.goto(path);
      await check(name);
    };

    await visit('sign-in', '/settings/sign-in');
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password').fill('not the right one');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await check('sign-in-refused');
    await visit('welcome', `/settings/welcome?link=${link}`);
    await visit('welcome-void', '/settings/welcome?link=void');
    await signIn(page, email);
    await check('overview');
    await visit('domain', `/settings/domains/${domain.id}`);
    await page.getByRole('heading', { name: 'Do reports come in?' }).waitFor();
    await page.getByText('Show these numbers as a table').click();
    await check('domain-numbers');
    for (const range of ['days=365', 'from=2017-01-01&to=2026-12-31', 'days=x'])
      await visit(`domain-${range.slice(0, 9)}`, `/settings/domains/${domain.id}?${range}`);
    await visit('domain-empty', `/settings/domains/${domain.id}?from=2001-01-01&to=2001-12-31`);
    await page.getByRole('link', { name: /days up to then/ }).click();
    await page.getByRole('img', { name: /^Pass rate by / }).waitFor();
    await visit('alerts', '/settings/alerts');
    await visit('alerts-sorted', '/settings/alerts?sort=domain&order=asc&q=example');
    await visit('audit-searched', '/settings/audit?q=example');
    // Where the page is as wide as it gets, the filter is in one line with its button.
    const bottoms = await page.$$eval('.filter > div', (all) =>
      all.map((one) => Math.round(one.getBoundingClientRect().bottom)),
    );
    expect(new Set(bottoms).size === 1).toBe(look.width > 1200);
    await visit('keys', KEYS);
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByLabel('Name').fill('New key');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /^Your new key/ }).waitFor();
    await check('keys-created');
    await page.getByRole('switch', { name: /dashboard/ }).click();
    await page.getByRole('status').getByText('is off').waitFor();
    await check('keys-switched');
    await page.getByRole('link', { name: /^Delete “Security/ }).click();
    await page.getByRole('dialog').waitFor();
    await check('keys-dialog');
    await visit('keys-delete', `${KEYS}/${keyId}/delete`);
    for (let i = 0; i < 7; i++) await aKey(store.db, accountId, `key ${i}`);
    await visit('keys-full', KEYS);
    await updatePlan(store.db, accountId, 'free');
    await visit('keys-free', KEYS);
    await visit('account', '/settings/account');
    await page.getByRole('link', { name: 'Ask for the deletion' }).click();
    await page.getByLabel('Name of the account').fill('not this one');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await check('account-deletion');
    await visit('security', '/settings/security');
    await page.getByLabel('Current password').fill('not the right one');
    await page.getByLabel('New password').fill('twelve or more');
    await page.getByLabel('The same again').fill('twelve or more');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await check('security-refused');
    await visit('audit', '/settings/audit');
    await visit('not-found', '/settings/nothing');
  });
});

test.each(LOOKS)('an account without any data, at $width pixels', async (look) => {
  const { server, store } = await runServer();
  const { email } = await aPerson(store, await aBareAccount(store.db));
  const { page, wrong } = await openWindow(server.url, look);
  await signIn(page, email);
  for (const place of ['overview', 'integrations/api-keys', 'audit']) {
    await page.goto(`/settings/${place}`);
    expect(await findBarriers(page)).toEqual([]);
    await shoot(page, `empty-${place.replace('/', '-')}-${look.width}`);
  }
  expect(wrong).toEqual([]);
});

test.each(LOOKS)('the header does not move while it comes in, at $width pixels', async (look) => {
  const { server, store } = await runServer();
  const { email } = await aPerson(store, await aBareAccount(store.db));
  const { page } = await openWindow(server.url, look);
  await signIn(page, email);
  const header = page.locator('.framed > header');
  /** Of its parts, by which of them have come in. */
  const places = await header.evaluate(({ children }) => {
    const seen: string[][] = [];
    for (; children.length > 0; children[children.length - 1]?.remove())
      seen.push(
        Array.from(children, (part) => {
          const { x, y, width, height } = part.getBoundingClientRect();
          return [part.className || part.localName, x, y, width, height].join(' ');
        }),
      );
    return seen;
  });
  expect(places.map((parts) => parts.length)).toEqual([3, 2, 1]);
  for (const parts of places) expect(places[0]?.slice(0, parts.length)).toEqual(parts);
});

describe.each([
  { width: 390, javaScriptEnabled: true },
  { width: 1280, javaScriptEnabled: true },
  { width: 390, javaScriptEnabled: false },
  { width: 1280, javaScriptEnabled: false },
])('charts at $width pixels, scripts: $javaScriptEnabled', (look) => {
  test('tell the values of a column by pointer, of one by keyboard, and any range by a form', async () => {
    const { server, store } = await runServer();
    const { domain, email } = await fill(store);
    const { page, wrong } = await openWindow(server.url, look);
    await signIn(page, email);
    await page.goto(`/settings/domains/${domain.id}`);
    const chart = page.getByRole('img', { name: /^Pass rate by day/ });
    const shown = async () => {
      const texts = chart.locator('.column .value');
      const visible = await texts.evaluateAll(
        (all) => all.filter((text) => getComputedStyle(text).visibility === 'visible').length,
      );
      return visible;
    };
    expect(await shown()).toBe(0);
    const columns = chart.locator('.column');
    await columns.nth(-5).locator('rect').hover();
    expect(await shown()).toBe(1);
    expect(await columns.nth(-5).locator('.value').isVisible()).toBe(true);
    await page.mouse.move(0, 0);

    await page.getByRole('button', { name: 'Show' }).focus();
    let stops = 0;
    for (; stops < 5 && !(await chart.evaluate((e) => e.matches(':focus'))); stops++)
      await page.keyboard.press('Tab');
    expect(await columns.nth(-1).locator('.value').isVisible()).toBe(true);
    if (look.javaScriptEnabled) {
      for (const key of ['ArrowLeft', 'ArrowLeft', 'ArrowLeft']) await page.keyboard.press(key);
      expect(await columns.nth(-3).locator('.value').isVisible()).toBe(true);
      await page.keyboard.press('Home');
      expect(await columns.first().locator('.value').isVisible()).toBe(true);
      expect(await shown()).toBe(1);
      await page.keyboard.press('Escape');
    }
    await page.keyboard.press('Tab');
    expect(await chart.evaluate((e) => e.matches(':focus'))).toBe(false);

    await page.getByLabel('From').fill('2001-01-01');
    await page.getByLabel('To, included').fill('2001-01-31');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByText('No report covers this range').waitFor();
    await expectToFit(page);
    expect(wrong).toEqual([]);
  });
});
