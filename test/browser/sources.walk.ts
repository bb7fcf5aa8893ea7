import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { anMmdb } from '../../scripts/mmdb.ts';
import { updateNames } from '../../src/store/days/names.ts';
import type { Store } from '../../src/store/engine/store.ts';
import {
  aBareAccount,
  aDomain,
  aRecord,
  aReportOf,
  aSignature,
  receive,
} from '../support/builders.ts';
import { runServer } from '../support/running-server.ts';
import { aDatabasePath } from '../support/store.ts';
import { aPerson } from '../support/visitor.ts';
import {
  expectToFit,
  findBarriers,
  findLayoutShifts,
  openWindow,
  shoot,
  signIn,
} from './chromium.ts';

const LOOKS = [390, 1280].flatMap((width) =>
  [true, false].map((javaScriptEnabled) => ({ width, javaScriptEnabled })),
);

/** A page that is painted while it comes in may move by less. */
const NOTICED = 0.01;
const MAILER = '198.51.100.7';
const SERVICE = '192.0.2.30';
const V6 = '2001:db8:1234:5678:9abc:def0:1234:5678';
/** Text that would run, break the layout, or turn what follows. */
const HOSTILE = `<script>document.title='ran'</script><img src=x onerror=alert(1)>\u202e${'W'.repeat(150)}`;
const LONG = `${'a-very-long-label-'.repeat(3)}x.${'and-another-one-'.repeat(3)}y.example`;

function aFile(): string {
  const file = join(dirname(aDatabasePath()), 'networks.mmdb');
  const networks = {
    '192.0.2.0/24': { autonomous_system_number: 64500, autonomous_system_organization: 'Own Net' },
    '198.51.100.0/24': { asn: 'AS64501', as_name: 'Mailer Networks Ltd', country_code: 'DE' },
    '2001:db8::/32': { asn: 'AS4294967294', as_name: HOSTILE, country_code: 'ZZ' },
  };
  writeFileSync(file, anMmdb({ networks }));
  return file;
}

const ofDay = (now: Date, ago: number) =>
  `${new Date(now.getTime() - ago * 86_400_000).toISOString().slice(0, 10)}T00:00:00Z`;

/** A domain with sources of each kind, and with hostile text wherever reports have text. */
async function fill({ db }: Store) {
  const now = new Date();
  const accountId = await aBareAccount(db);
  const { id } = await aDomain(db, accountId, { name: 'example.com' });
  const own = { spf: 'pass', dkim: 'pass', spfDomain: 'example.com' } as const;
  const signatures = [aSignature({ selector: 's2026' })];
  const hostile = [
    aSignature({ domain: LONG, selector: HOSTILE, result: 'fail' }),
    aSignature({ domain: HOSTILE, selector: LONG, result: 'pass' }),
  ];
  const reports = Array.from({ length: 30 }, (_, i) =>
    aReportOf(
      [
        aRecord({ sourceIp: '192.0.2.1', count: 900 + i * 7, ...own, signatures }),
        aRecord({ sourceIp: '192.0.2.2', count: 40, spf: 'pass', spfDomain: 'example.com' }),
        aRecord({ sourceIp: '203.0.113.9', count: 3, dkim: 'pass', spfResult: 'fail', signatures }),
        aRecord({ sourceIp: MAILER, count: 60 + i }),
        aRecord({ sourceIp: SERVICE, count: 5, spfDomain: 'sendgrid.net', spfResult: 'pass' }),
        ...(i % 3 === 0
          ? [
              aRecord({
                sourceIp: V6,
                count: 12,
                spfDomain: HOSTILE,
                signatures: hostile,
                headerFrom: LONG,
                disposition: HOSTILE,
              }),
            ]
          : []),
        ...Array.from({ length: 60 }, (_, n) =>
          aRecord({
            sourceIp: `203.0.113.${n + 20}`,
            count: 1 + (n % 5),
            spfResult: 'softfail',
            spfDomain: 'example.com',
          }),
        ),
      ],
      { begin: ofDay(now, i + 1), orgName: i % 2 === 0 ? 'Mailbox Provider' : HOSTILE },
    ),
  );
  await receive(db, reports, now.toISOString());
  const expiresAt = ofDay(now, -7);
  await updateNames(db, { domainId: id, now: now.toISOString() }, [
    { address: MAILER, name: 'out-1.mailer.example', expiresAt },
    { address: '192.0.2.1', name: 'mail.example.com', expiresAt },
    { address: V6, name: LONG, expiresAt },
  ]);
  const { email } = await aPerson({ db }, accountId);
  return { path: `/settings/domains/${id}/sources`, email };
}

describe.each(LOOKS)('the sources at $width pixels, scripts: $javaScriptEnabled', (look) => {
  test('are pages that anybody can use, whatever reports contain', async () => {
    const env = {
      PLUMBLINE_IP_DATABASE: aFile(),
      PLUMBLINE_DNS_CHECKS: 'on',
      PLUMBLINE_DNS_SERVERS: '127.0.0.1:1',
    };
    const { server, store } = await runServer(env);
    const { path, email } = await fill(store);
    const { page, wrong } = await openWindow(server.url, look);
    page.on('console', (message) => {
      if (message.type() === 'error') wrong.push(message.text());
    });
    page.on('dialog', (dialog) => wrong.push(dialog.message()));
    await signIn(page, email);
    const check = async (name: string) => {
      if (look.javaScriptEnabled) {
        expect(await findBarriers(page), name).toEqual([]);
        const shifts = await findLayoutShifts(page);
        expect(
          shifts.filter((shift) => Number.parseFloat(shift) >= NOTICED),
          name,
        ).toEqual([]);
        await expectToFit(page);
      }
      expect(await page.title()).toMatch(/Plumbline$/);
      expect(wrong, name).toEqual([]);
      if (look.javaScriptEnabled) await shoot(page, `${name}-${look.width}`);
    };
    const visit = async (name: string, to: string) => {
      await page.goto(to);
      await check(name);
    };
    await visit('domain-failing', path.replace('/sources', ''));
    await visit('sources-services', path);
    await visit('sources', `${path}?group=address`);
    await page.getByRole('link', { name: 'Next' }).click();
    await page.getByText('Page 2 of').waitFor();
    await visit('sources-failing', `${path}?group=address&failing=1&days=7`);
    await visit('sources-of-standing', `${path}?days=30&failing=1&standing=stranger`);
    await page.getByText(/Probably not yours .* sources? failed/).waitFor();
    await visit('sources-searched', `${path}?group=address&q=192.0.2.0/24&sort=failed&order=asc`);
    await visit('sources-networks', `${path}?group=network`);
    await visit('sources-organisations', `${path}?group=organisation`);
    await page.getByRole('link', { name: 'mailer.example' }).click();
    await page.getByText('1 address').waitFor();
    await check('sources-within');
    await page.getByRole('link', { name: MAILER }).click();
    await page.getByRole('heading', { name: MAILER }).waitFor();
    await check('source');
    await page.getByRole('button', { name: 'Yes: legitimate' }).click();
    await page.getByText(/@\S+ marked it as/).waitFor();
    await check('source-marked');
    await visit('source-hostile', `${path}/${encodeURIComponent(V6)}`);
    await visit('source-passing', `${path}/192.0.2.1?days=90`);
    await visit('source-service', `${path}/${SERVICE}`);
    await page.getByText('this is called domain authentication').waitFor();
    await visit('source-none', `${path}/203.0.113.200`);
    await visit('sources-empty', `${path}?from=2020-01-01&to=2020-01-31`);
    await visit('sources-legitimate', `${path}?group=address&mark=legitimate`);
  });
});
