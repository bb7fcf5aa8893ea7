import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { generateSync } from 'otplib';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { insertApiKey } from '../../src/store/accounts/api-keys.ts';
import { claimOrPropose } from '../../src/store/domains/proposals.ts';
import { invitePerson } from '../../src/store/people/new-people.ts';
import { updateDisabled } from '../../src/store/people/person-changes.ts';
import { aBareAccount, aDomain, NOW } from '../support/builders.ts';
import { runServer } from '../support/running-server.ts';
import { aDatabasePath } from '../support/store.ts';
import { aPerson, KEYS, PASSWORD } from '../support/visitor.ts';
import { expectToFit, findBarriers, findLayoutShifts, openWindow, shoot } from './chromium.ts';

const LOOKS = [390, 1280].map((width) => ({ width }));
/** Without scripts, axe cannot run either. */
const WITHOUT_SCRIPTS = { width: 390, javaScriptEnabled: false };

function aKeyFile(): string {
  const path = `${aDatabasePath()}.key`;
  writeFileSync(path, randomBytes(32).toString('base64'));
  return path;
}

async function signIn(page: Page, email: string): Promise<void> {
  await page.goto('/settings/sign-in');
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

async function readSecret(page: Page): Promise<string> {
  return (await page.getByLabel('Or type this key into it').inputValue()).replaceAll(' ', '');
}

/** The code of the step after the current one, which is accepted and was not used. */
const nextCode = (secret: string) =>
  generateSync({ secret, epoch: Math.floor(Date.now() / 1000) + 30 });

describe.each([...LOOKS, WITHOUT_SCRIPTS])('people and the second factor at %j', (look) => {
  const hasScripts = look !== WITHOUT_SCRIPTS;

  test('every page is accessible, does not move, fits, and keeps to the policy', async () => {
    const { server, store } = await runServer({ PLUMBLINE_SECRETS_KEY_FILE: aKeyFile() });
    const { db } = store;
    const accountId = await aBareAccount(db);
    const { email } = await aPerson(store, accountId);
    await aDomain(db, accountId, { name: 'example.com' });
    for (const name of ['xn--bcher-kva.example', `${'long-'.repeat(12)}.mail.example.org`])
      await claimOrPropose(db, { accountId, name, now: NOW });
    const gone = await aPerson(store, accountId, `${'long-'.repeat(12)}@mail.example.com`);
    await updateDisabled(db, gone.id, true);
    await invitePerson(db, { accountId, email: 'invited@example.com', now: NOW });
    for (const [name, days] of [
      ['Dashboard', 5],
      ['Old', -5],
      ['Later', 200],
    ] as const) {
      const expiresAt = new Date(Date.now() + days * 86_400_000).toISOString();
      await insertApiKey(db, {
        accountId,
        name,
        now: NOW,
        expiresAt: `${expiresAt.slice(0, 19)}Z`,
      });
    }
    const { page, wrong } = await openWindow(server.url, look);
    const check = async (name: string) => {
      if (hasScripts) {
        expect(await findBarriers(page), name).toEqual([]);
        expect(await findLayoutShifts(page), name).toEqual([]);
        await expectToFit(page);
      }
      expect(wrong, name).toEqual([]);
      const kind = hasScripts ? 'scripts' : 'plain';
      await shoot(page, `people-${name}-${look.width}-${kind}`);
    };
    const visit = async (name: string, path: string) => {
      await page.goto(path);
      await check(name);
    };

    await signIn(page, email);
    await visit('proposals', '/settings/overview');
    await page.getByRole('button', { name: /^Add: bücher/ }).click();
    await page.getByRole('status').getByText('is one of your domains now').waitFor();
    await check('added');
    await visit('list', '/settings/people');
    await page.getByRole('button', { name: 'Invite a person' }).click();
    await page.getByLabel('E-mail').fill('new@example.com');
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    await page.getByRole('heading', { name: /^Give this link/ }).waitFor();
    await check('invited');
    await page.getByRole('button', { name: 'Withdraw: new@example.com' }).click();
    await page.getByRole('status').getByText('is withdrawn').waitFor();
    await check('withdrawn');
    await visit('keys', KEYS);
    await visit('audit', '/settings/audit?kind=person');
    await visit('factor-off', '/settings/second-factor');
    await page.getByRole('button', { name: 'Set it up' }).click();
    await page.getByRole('heading', { name: /^1\./ }).waitFor();
    await check('factor-scan');
    const secret = await readSecret(page);
    await page.getByLabel('Password', { exact: true }).fill('not the right one');
    await page.getByLabel('Code', { exact: true }).fill(generateSync({ secret }));
    await page.getByRole('button', { name: 'Turn on' }).click();
    await page.getByText('This is not your password').waitFor();
    await check('factor-wrong');
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByLabel('Code', { exact: true }).fill(generateSync({ secret }));
    await page.getByRole('button', { name: 'Turn on' }).click();
    await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor();
    await check('factor-codes');
    await visit('factor-on', '/settings/second-factor');
    await visit('security', '/settings/security');
    await page.getByRole('button', { name: 'Sign out', exact: true }).first().click();
    await signIn(page, email);
    await page.getByRole('heading', { name: 'Your code' }).waitFor();
    await check('code');
    await page.getByLabel('Code of your authenticator app').fill('000');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    await check('code-wrong');
    await page.getByLabel('Code of your authenticator app').fill(nextCode(secret));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.goto('/settings/people');
    await page.getByRole('button', { name: 'Require it' }).click();
    await page.getByText('Required', { exact: true }).waitFor();
    await check('required');
  });
});
