import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Store } from '../../src/store/engine/store.ts';
import { aBareAccount, aDomain, aReport, receive } from '../support/builders.ts';
import { takeIn } from '../support/ingest.ts';
import { PLAIN } from '../support/intake.ts';
import { runServer } from '../support/running-server.ts';
import { aPerson } from '../support/visitor.ts';
import {
  expectToFit,
  findBarriers,
  findLayoutShifts,
  openWindow,
  shoot,
  signIn,
  WIDTHS,
} from './chromium.ts';

const LOOKS = WIDTHS.flatMap((width) => [
  { width, javaScriptEnabled: true },
  { width, javaScriptEnabled: false },
]);
/** One word of 10,000 characters, markup, and text from right to left that is not closed. */
const EVIL = `<b>x</b>\u202e\u05d0\u05d1${'W'.repeat(10_000)}`;
const IN_XML = EVIL.replaceAll('<', '&lt;');
const [RECORD = ''] = /<record>[\s\S]*?<\/record>/.exec(PLAIN) ?? [];

const aRecord = (i: number) =>
  RECORD.replace(
    '192.0.2.1',
    i % 3 === 0 ? `2001:db8:85a3:1234:5678:8a2e:370:${i}` : `192.0.2.${i % 250}`,
  )
    .replace('<count>7', `<count>${7 * (i + 1)}`)
    .replace('<dkim>pass', i % 4 === 0 ? '<dkim>fail' : '<dkim>pass');

const HOSTILE = PLAIN.replace(/(<(?:org_name|email|selector|header_from|p)>)[^<]*/g, `$1${IN_XML}`)
  .replace('<report_id>2026-0001', '<report_id>hostile')
  .replace(
    '</policy_evaluated>',
    `<reason><type>${IN_XML}</type><comment>${IN_XML}</comment></reason></policy_evaluated>`,
  );

/** A domain with three pages of reports; a report of three pages of records, a hostile one, and one that is gone. */
async function fill(store: Store) {
  const accountId = await aBareAccount(store.db);
  const { id } = await aDomain(store.db, accountId, { name: 'example.com' });
  const orgs = ['Mailbox Provider', 'Example Mail', null, `A ${'very '.repeat(30)}long name`];
  await receive(
    store.db,
    Array.from({ length: 120 }, (_, i) =>
      aReport({
        begin: `2025-12-${String(1 + (i % 30)).padStart(2, '0')}T00:00:00Z`,
        orgName: orgs[i % 4] ?? null,
        totalMessages: 1_000 * i,
        alignedMessages: 900 * i,
      }),
    ),
  );
  const records = Array.from({ length: 240 }, (_, i) => aRecord(i)).join('');
  const large = PLAIN.replace(RECORD, records).replace('2026-0001', 'large');
  await takeIn(store, gzipSync(large), { name: 'mail-7 smtp from dmarc@example.net' });
  await takeIn(store, large.replace('<count>7<', '<count>9<'), { name: 'again.xml' });
  await takeIn(store, HOSTILE, { name: EVIL });
  const { email } = await aPerson(store, accountId);
  const ids = await store.db.selectFrom('report').select(['id', 'report_id']).execute();
  const pathOf = (reportId: string) =>
    `/settings/domains/${id}/reports/${ids.find((row) => row.report_id?.startsWith(reportId))?.id}`;
  return { email, path: `/settings/domains/${id}/reports`, pathOf };
}

describe.each(LOOKS)(
  'the pages of reports at $width pixels, scripts: $javaScriptEnabled',
  (look) => {
    test('have no accessibility violation, no movement, nothing too wide, and nothing that the policy forbids', async () => {
      const { server, store } = await runServer();
      const { email, path, pathOf } = await fill(store);
      const { page, wrong } = await openWindow(server.url, look);
      page.on('console', (message) => wrong.push(message.text()));
      page.on('dialog', (dialog) => wrong.push(dialog.message()));
      await signIn(page, email);

      const visit = async (name: string, to: string) => {
        await page.goto(to);
        await expectToFit(page);
        if (look.javaScriptEnabled) {
          expect(await findBarriers(page), name).toEqual([]);
          expect(await findLayoutShifts(page), name).toEqual([]);
        }
        expect(wrong, name).toEqual([]);
        if (look.javaScriptEnabled) await shoot(page, `${name}-${look.width}`);
      };
      await visit('reports', `${path}?days=90`);
      await page.getByLabel('Reporter').selectOption({ index: 1 });
      await page.getByRole('button', { name: 'Show' }).last().click();
      await page.getByRole('cell', { name: '28 Dec 2025' }).first().waitFor();
      await visit('reports-of-one', `${path}?days=90&reporter=unnamed`);
      await visit('reports-sorted', `${path}?days=90&sort=failed&q=e`);
      await visit('reports-empty', `${path}?from=2020-01-01&to=2020-01-31`);
      await page.goto(`${path}?days=90`);
      await page.getByRole('link', { name: 'Older' }).click();
      await page.getByRole('link', { name: 'Newer' }).waitFor();
      await visit('report', pathOf('large'));
      await page.getByRole('link', { name: 'Next' }).click();
      await page.getByText('101 to 200 of 241').waitFor();
      await visit('report-hostile', pathOf('hostile'));
      await visit('report-unreadable', pathOf('report-'));
      const waiting = page.waitForEvent('download');
      await page.goto(pathOf('hostile'));
      await page.getByRole('link', { name: /^Download the original/ }).click();
      const saved = await waiting;
      expect(saved.suggestedFilename()).toMatch(/^example\.com-2026-01-01-[0-9a-f]{8}\.xml$/);
    });
  },
);
