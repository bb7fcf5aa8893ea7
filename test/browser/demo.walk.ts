import { expect, test } from 'vitest';
import { DEMO_NETWORKS, ingestDemo, insertDemoAccount } from '../../src/demo/demo-data.ts';
import { runServer } from '../support/running-server.ts';
import { aPerson } from '../support/visitor.ts';
import { expectToFit, findBarriers, openWindow, shoot, signIn, WIDTHS } from './chromium.ts';

test.each(WIDTHS)(
  'the demo says in two clicks who fails, whether it is mine, and what to do, at %i pixels',
  async (width) => {
    const { server, store } = await runServer({ PLUMBLINE_IP_DATABASE: DEMO_NETWORKS });
    const today = new Date();
    const account = await insertDemoAccount(store.db, today);
    await ingestDemo(store, account, today);
    const { email } = await aPerson({ db: store.db }, account.account_id);
    const { page, wrong } = await openWindow(server.url, { width });
    await signIn(page, email);
    const readMain = () => page.innerText('main');
    // The domain that needs a person comes first, and its alert is open.
    expect(await page.innerText('table.domains tbody tr:first-child')).toContain('shop.example');

    await page.click('table.domains tbody tr:first-child th a');
    await page.getByRole('heading', { name: 'shop.example' }).waitFor();
    expect(await readMain()).toMatch(/Can I go to p=reject\?\s+Not yet\./);
    expect(await findBarriers(page)).toEqual([]);
    await expectToFit(page);
    await shoot(page, `demo-domain-${width}`);

    // The step is the cause of the alert in the same card, and leads there.
    const card = page.locator('.card.step');
    expect(await card.innerText()).toMatch(
      /Plain Invoices stopped signing correctly on .+ \(selector inv1\): compare its key\.[\s\S]*Pass rate fell/,
    );
    await card.locator('p a').first().click();
    await page.waitForURL(/failing=1/);
    await page.getByRole('link', { name: 'Plain Invoices' }).first().click();
    await page.waitForURL(/within=/);
    const sender = await readMain();
    expect(sender).toContain('(selector inv1), and the signature does not verify');
    expect(sender).toContain('Do you know this sender?');
    expect(wrong).toEqual([]);
  },
);
