import { describe, expect, test } from 'vitest';
import { aBareAccount, aDomain } from '../support/builders.ts';
import { aReportXml } from '../support/inbox.ts';
import { workAll } from '../support/inbox-worker.ts';
import { runServer } from '../support/running-server.ts';
import { aPerson, PASSWORD } from '../support/visitor.ts';
import { expectToFit, openWindow, WIDTHS } from './chromium.ts';

const LOOKS = WIDTHS.flatMap((width) => [
  { width, javaScriptEnabled: true },
  { width, javaScriptEnabled: false },
]);

describe.each(LOOKS)('at $width pixels, scripts: $javaScriptEnabled', (look) => {
  test('files are chosen on the account’s page, and lead to their reports', async () => {
    const { server, store } = await runServer();
    const accountId = await aBareAccount(store.db);
    await aDomain(store.db, accountId, { name: 'example.com' });
    const { email } = await aPerson(store, accountId);
    const { page, wrong } = await openWindow(server.url, look);
    await page.goto('/settings/account');
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Upload reports' }).waitFor();
    await expectToFit(page);
    const file = { name: 'a.xml', mimeType: 'text/xml', buffer: Buffer.from(aReportXml()) };
    await page.getByLabel('Files').setInputFiles([file, { ...file, name: 'again.xml' }]);
    await page.getByRole('button', { name: 'Upload' }).click();
    await expect
      .poll(() => store.db.selectFrom('inbox_mail').select('seq').execute())
      .toHaveLength(1);
    await workAll(store.db);
    await page.getByText('Stored already').waitFor();
    await expectToFit(page);
    await page.getByRole('link', { name: 'a report of example.com' }).first().click();
    await page.getByText('A file that was uploaded').waitFor();
    if (look.javaScriptEnabled) await dropTooMuch();
    expect(wrong).toEqual([]);

    async function dropTooMuch() {
      await page.goto('/settings/account');
      const data = await page.evaluateHandle(`(() => {
        const data = new DataTransfer();
        data.items.add(new File([new Uint8Array(26 * 1024 * 1024)], 'large.xml'));
        return data;
      })()`);
      await page.locator('form[data-upload]').dispatchEvent('drop', { dataTransfer: data });
      await page.getByText('The files may have 25 MiB together. Nothing was taken in.').waitFor();
      expect(await page.getByRole('button', { name: 'Upload' }).isEnabled()).toBe(true);
    }
  });
});
