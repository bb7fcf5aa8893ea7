import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { Store } from '../../src/store/engine/store.ts';
import { aBareAccount, aDomain, aRecord, aReportOf, receive } from '../support/builders.ts';
import { runServer } from '../support/running-server.ts';
import { aPerson } from '../support/visitor.ts';
import { expectToFit, openWindow, shoot, signIn } from './chromium.ts';

const NAMES = ['example.com', 'newsletters.customer-example.org', 'parked.example'];
const SERVICE = '198.51.100.9';

/** Domains whose policy is as long as it gets, with reports of some days. */
async function fill({ db }: Store) {
  const now = new Date();
  const accountId = await aBareAccount(db);
  const toBegin = (ago: number) =>
    `${new Date(now.getTime() - ago * 86_400_000).toISOString().slice(0, 10)}T00:00:00Z`;
  const policy = { p: 'reject', sp: 'none' } as const;
  const ids: string[] = [];
  for (const name of NAMES) {
    ids.push((await aDomain(db, accountId, { name })).id);
    const records = [
      aRecord({ headerFrom: name, count: 1_234_567, spf: 'pass', spfDomain: name }),
      aRecord({ headerFrom: name, sourceIp: SERVICE, count: 98_765, spfResult: 'softfail' }),
    ];
    const reports = [1, 2, 3].map((ago) =>
      aReportOf(records, {
        domain: name,
        begin: toBegin(ago),
        policy: ago === 3 ? { p: 'none' } : policy,
        orgName: 'Enterprise Outlook',
      }),
    );
    await receive(db, reports, now.toISOString());
  }
  const none = await aDomain(db, accountId, { name: 'without-reports.example' });
  const { email } = await aPerson({ db }, accountId);
  return { path: `/settings/domains/${ids[0]}`, empty: `/settings/domains/${none.id}`, email };
}

/** How far each table reaches beyond its card, in pixels, and the words of its rows' heads that are broken in two lines. */
const measure = (page: Page) =>
  page.evaluate(`(() => {
    const right = (element) => Math.round(element.getBoundingClientRect().right);
    const tables = [...document.querySelectorAll('.card table')];
    const beyond = tables.map((table) => right(table) - right(table.parentElement) + Number.parseInt(getComputedStyle(table.parentElement).paddingRight));
    const isBroken = (range, node, start, end) => {
      range.setStart(node, start);
      range.setEnd(node, end);
      return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1;
    };
    const broken = [...document.querySelectorAll('tbody th')].flatMap((head) => {
      const nodes = document.createTreeWalker(head, NodeFilter.SHOW_TEXT);
      const found = [];
      while (nodes.nextNode())
        for (const { index, 0: word } of nodes.currentNode.data.matchAll(/[\\p{L}\\d]+/gu))
          if (isBroken(new Range(), nodes.currentNode, index, index + word.length)) found.push(word);
      return found;
    });
    return { beyond: beyond.filter((by) => by > 0), broken };
  })()`);

describe.each([360, 800, 1024, 1280, 1920])('tables at %i pixels', (width) => {
  test('stay in their cards, break no word of a name, and are sorted by links', async () => {
    const { server, store } = await runServer();
    const { path, empty, email } = await fill(store);
    const { page, wrong } = await openWindow(server.url, { width });
    await signIn(page, email);
    const places = {
      overview: '/settings/overview',
      domain: path,
      empty,
      senders: `${path}/sources`,
      addresses: `${path}/sources?group=address`,
      reports: `${path}/reports`,
      alerts: '/settings/alerts',
    };
    for (const [name, place] of Object.entries(places)) {
      await page.goto(place);
      expect(await measure(page), name).toEqual({ beyond: [], broken: [] });
      await expectToFit(page);
      await shoot(page, `table-${name}-${width}`);
    }
    await page.goto(places.overview);
    const heads = page.locator('table.domains thead tr');
    const label = await heads.evaluate((row) => getComputedStyle(row, '::before').content);
    expect(label).toBe(width < 768 ? '"Sort by"' : 'none');
    await heads.getByRole('link', { name: 'Messages' }).click();
    await page.waitForURL(/sort=messages/);
    expect(wrong).toEqual([]);
  });
});
