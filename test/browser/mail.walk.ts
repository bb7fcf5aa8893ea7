import { describe, expect, test } from 'vitest';
import { MAX_REFUSALS } from '../../src/domain/mail-choice.ts';
import {
  type AlertChange,
  toAlertLetter,
  toListLetter,
} from '../../src/notify/mail/alert-letters.ts';
import { type Letter, renderLetter } from '../../src/notify/mail/letter.ts';
import { toLinkLetter } from '../../src/notify/mail/person-letters.ts';
import { toSummaryLetter } from '../../src/notify/mail/summary-letter.ts';
import { aBareAccount, aDomain, NOW } from '../support/builders.ts';
import { runServer } from '../support/running-server.ts';
import { aPerson, PASSWORD } from '../support/visitor.ts';
import { browser, expectToFit, findBarriers, openWindow, shoot } from './chromium.ts';

const BASE_URL = 'https://dmarc.example.com';
const FRAME = { baseUrl: BASE_URL, account: 'Example', isLastToday: true };
const LONG = `${'long-'.repeat(11)}label.${'and-longer-'.repeat(5)}x.example.org`;

const change = (given: Partial<AlertChange> = {}): AlertChange => ({
  ...{ eventId: 'e', isResolved: false, id: 'a', domain_id: 'd', domain: 'example.com' },
  ...{ type: 'alert.alignment_regression', fired_at: NOW, resolved_at: null },
  ...{ told_as: 'Pass rate fell' },
  context: { drop_pct: 31.4, prev_pass_rate: 98.74, curr_pass_rate: 67.34 },
  ...given,
});

const record = `v=DMARC1; p=none; rua=mailto:${'a'.repeat(60)}@example.com`;
const changed = { record_type: 'DMARC', record_name: `_dmarc.${LONG}`, change: 'modified' };
const LETTERS: Readonly<Record<string, Letter>> = {
  alert: toAlertLetter(change(), FRAME),
  record: toAlertLetter(
    change({
      ...{ domain: LONG, type: 'alert.dns_record_changed' },
      context: { ...changed, previous_value: record, current_value: `${record}<script>` },
    }),
    FRAME,
  ),
  list: toListLetter(
    Array.from({ length: 60 }, (_, i) =>
      change({ domain: `d${i}.example`, isResolved: i % 2 === 1 }),
    ),
    FRAME,
  ),
  invitation: toLinkLetter(
    { action: 'person_invited', actor: 'ada@example.com', address: null, subject: '', detail: '' },
    'x'.repeat(43),
    { ...FRAME, at: NOW },
  ),
  summary: toSummaryLetter(
    {
      monday: '2026-03-16',
      total: 30,
      domains: ['example.com', LONG, 'xn--bcher-kva.example'].map((name, i) => ({
        id: name,
        name,
        newSources: i,
        openAlerts: i === 0 ? ['Reports missing'] : [],
        counts: { messages: 1200 * i, aligned: 1100 * i },
        before: { messages: 100, aligned: 99 },
        step: `Publish a TXT record at _dmarc.${LONG}: ${record}`,
      })),
    },
    FRAME,
  ),
};

const LINKS = [
  { link: `${BASE_URL}/settings/mail`, text: 'Choose what you get' },
  { link: `${BASE_URL}/settings/unsubscribe?token=${'x'.repeat(86)}`, text: 'Get no more of it' },
];

describe.each([360, 1440])('mails at %i pixels', (width) => {
  test.each(Object.keys(LETTERS))(
    '%s is accessible, fits, and needs nothing from elsewhere',
    async (name) => {
      const { html } = renderLetter(LETTERS[name] as Letter, LINKS);
      const context = await browser.newContext({ viewport: { width, height: 900 } });
      const page = await context.newPage();
      const wrong: string[] = [];
      page.on('request', ({ url }) => wrong.push(url()));
      page.on('pageerror', ({ message }) => wrong.push(message));
      await page.setContent(html);
      await expectToFit(page);
      await shoot(page, `mail-${name}-${width}`);
      expect(await findBarriers(page)).toEqual([]);
      // As clients show it that remove styles.
      await page.setContent(html.replace(/<style>.*<\/style>/s, ''));
      await shoot(page, `mail-${name}-${width}-plain`);
      expect(wrong).toEqual([]);
      await context.close();
    },
  );
});

describe.each([{ width: 320 }, { width: 1280 }, { width: 390, javaScriptEnabled: false }])(
  'the pages about mail at %j',
  (look) => {
    test('are accessible, fit, and work', async () => {
      const { server, store } = await runServer({
        PLUMBLINE_MAIL_SERVER: 'smtp://127.0.0.1:9',
        PLUMBLINE_MAIL_FROM: 'plumbline@example.com',
        PLUMBLINE_BASE_URL: 'http://127.0.0.1',
      });
      const { db } = store;
      const accountId = await aBareAccount(db);
      const { email } = await aPerson(store, accountId);
      await aDomain(db, accountId, { name: LONG });
      await aDomain(db, accountId, { name: 'xn--bcher-kva.example' });
      const { page, wrong } = await openWindow(server.url, look);
      const check = async (name: string) => {
        if (look.javaScriptEnabled !== false) {
          expect(await findBarriers(page), name).toEqual([]);
          await expectToFit(page);
        }
        expect(wrong, name).toEqual([]);
        await shoot(page, `mail-page-${name}-${look.width}`);
      };
      await page.goto('/settings/sign-in');
      await page.getByRole('link', { name: 'Forgot your password?' }).click();
      await check('forgotten');
      await page.getByLabel('E-mail').fill(email);
      await page.getByRole('button', { name: 'Send me a link' }).click();
      await page.getByRole('heading', { name: 'Look into your mailbox' }).waitFor();
      await check('sent');

      await page.goto('/settings/sign-in');
      await page.getByLabel('E-mail').fill(email);
      await page.getByLabel('Password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.goto('/settings/mail');
      for (const name of [LONG, 'bücher.example']) {
        await page.getByLabel('Leave out a domain').fill(name);
        await page.getByRole('button', { name: 'Leave it out' }).click();
        await page.getByRole('status').getByText('is left out of your mail').waitFor();
      }
      await page.getByLabel('Once a day').check();
      await page.getByLabel('On Mondays').check();
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('status').getByText('Your choice is saved').waitFor();
      expect(await page.getByLabel('Once a day').isChecked()).toBe(true);
      const refused = {
        refusals: MAX_REFUSALS,
        refusal: `550 5.1.1 <${email}>: ${'no '.repeat(60)}`,
      };
      await db.write((tx) => tx.updateTable('person_mail').set(refused).execute());
      await page.reload();
      await check('mail');
      await page.getByRole('button', { name: 'My address works again' }).click();
      await page.getByRole('status').getByText('You get mail again').waitFor();
    });
  },
);
