import { expect, test } from 'vitest';
import { runServer } from '../support/running-server.ts';
import { expectToFit, findBarriers, openWindow, shoot } from './chromium.ts';

test.each([320, 768, 1440])(
  'the page at / has no accessibility violation, loads one picture, copies its request, and fits into %i pixels',
  async (width) => {
    const { server } = await runServer({
      PLUMBLINE_NAME: 'DMARC reports of Example Limited Company',
      PLUMBLINE_CONTACT: 'postmaster@a-rather-long-name.example.com',
    });
    const { page, wrong } = await openWindow(server.url, { width, place: '/' });
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await page.goto('/');
    await page.getByRole('heading', { name: 'Example Limited' }).waitFor();
    await page.waitForLoadState();
    expect(requests.filter((url) => !url.startsWith('data:'))).toEqual([
      `${server.url}/`,
      expect.stringMatching(/\/docs\/overview-(?:light|dark)\.webp$/),
    ]);
    expect(await findBarriers(page)).toEqual([]);
    await expectToFit(page);
    expect(wrong).toEqual([]);
    await shoot(page, `home-${width}`);
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(
      /^curl -H "Authorization: Bearer \S+" \\\n {2}"http:\S+\?limit=1"$/,
    );
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByLabel('Password').waitFor();
  },
);
