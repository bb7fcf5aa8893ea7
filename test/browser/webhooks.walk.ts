import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { disableFailingWebhook, listWebhooks } from '../../src/store/notify/webhooks.ts';
import { aBareAccount, aDomain, anAlert, NOW } from '../support/builders.ts';
import { aChannel, deliverAll } from '../support/outbox.ts';
import { runServer } from '../support/running-server.ts';
import { aDatabasePath } from '../support/store.ts';
import { aPerson } from '../support/visitor.ts';
import { expectToFit, findBarriers, openWindow, shoot, signIn, WIDTHS } from './chromium.ts';

const PATH = '/settings/integrations/webhooks';
const LOOKS = WIDTHS.flatMap((width) => [true, false].map((scripts) => ({ width, scripts })));

describe.each(LOOKS)('webhooks at $width pixels, scripts: $scripts', ({ width, scripts }) => {
  test('an endpoint is added, looked at, tested, turned off and deleted', async () => {
    const key = `${aDatabasePath()}.key`;
    writeFileSync(key, randomBytes(32).toString('base64'));
    const { server, store } = await runServer({ PLUMBLINE_SECRETS_KEY_FILE: key });
    const { db } = store;
    const accountId = await aBareAccount(db);
    const { id: domainId } = await aDomain(db, accountId);
    const { email } = await aPerson(store, accountId);
    const { page, wrong } = await openWindow(server.url, { width, javaScriptEnabled: scripts });
    const check = async (name: string) => {
      // What looks at a page is a script.
      if (!scripts) return;
      expect(await findBarriers(page), name).toEqual([]);
      await expectToFit(page);
      expect(wrong, name).toEqual([]);
      await shoot(page, `webhooks-${name}-${width}`);
    };
    await signIn(page, email);

    await page.goto(PATH);
    await check('none');
    await page.getByLabel('Address').fill('https://10.0.0.1/hook');
    await page.getByRole('button', { name: 'Add endpoint' }).click();
    await page.getByRole('alert').waitFor();
    await check('refused');
    await page.getByLabel('Address').fill(`https://hooks.example.com/${'services/'.repeat(12)}`);
    await page.getByLabel('Description').fill('The chat of our desk');
    await page.getByRole('button', { name: 'Add endpoint' }).click();
    await page.getByRole('heading', { name: 'The secret of your endpoint' }).waitFor();
    await check('added');

    const [webhook] = await listWebhooks(db, accountId);
    const fails = { kind: 'failed', status: 500, tookMs: 1_234 } as const;
    const { channel } = aChannel(() => ({ ...fails, answer: 'x'.repeat(500) }), { waitsMs: [1e6] });
    await anAlert(db, { accountId, domainId }, { resolvedAt: NOW });
    await deliverAll(db, channel);
    await page.goto(`${PATH}/${webhook?.id}`);
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByRole('status').getByText('A test is on its way').waitFor();
    await check('deliveries');
    await page.getByRole('button', { name: 'Resend: An alert fires' }).click();
    await page.getByRole('status').getByText('sent again').waitFor();
    await page.getByRole('button', { name: 'New secret' }).click();
    await page.getByRole('heading', { name: 'The secret of your endpoint' }).waitFor();
    await page.goto(PATH);
    await check('list');
    await disableFailingWebhook(db, webhook?.id ?? '', { reason: 'failing', at: NOW });
    await page.goto(`${PATH}/${webhook?.id}`);
    await page.getByText('for five days every delivery failed').waitFor();
    await check('off');
    await page.getByRole('button', { name: 'Turn on' }).click();
    await page.getByRole('heading', { name: 'The endpoint is on' }).waitFor();
    await page.getByRole('link', { name: 'Delete this endpoint' }).click();
    await check('delete');
    await page.getByRole('button', { name: 'Delete endpoint' }).click();
    await page.getByRole('status').getByText('is deleted').waitFor();
    expect(await listWebhooks(db, accountId)).toEqual([]);
  });
});
