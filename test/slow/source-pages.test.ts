import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { anMmdb } from '../../scripts/mmdb.ts';
import { addDays } from '../../src/domain/instant.ts';
import { updateNames } from '../../src/store/days/names.ts';
import { openStore } from '../../src/store/engine/open.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { serveApi } from '../support/api.ts';
import {
  aBareAccount,
  aDomain,
  aRecord,
  aReportOf,
  aSignature,
  receive,
} from '../support/builders.ts';
import { aDatabasePath } from '../support/store.ts';
import { aVisitor } from '../support/visitor.ts';

const [DAYS, SOURCES] = [400, 2_000];
const NEWEST = '2026-03-14';

const toAddress = (i: number) => `198.${18 + (i >> 15)}.${(i >> 8) & 127}.${i & 255}`;

/** 256 networks of 40 organisations. */
function aNetworkFile(): string {
  const file = join(dirname(aDatabasePath()), 'networks.mmdb');
  const networks = Array.from({ length: 256 }, (_, n) => [
    `198.18.${n >> 3}.${(n & 7) << 5}/27`,
    { asn: `AS${64_500 + (n % 40)}`, as_name: `Example Networks ${n % 40}` },
  ]);
  writeFileSync(file, anMmdb({ networks: Object.fromEntries(networks) }));
  return file;
}

/** Names of all sources, of 37 organisations. */
async function nameAll({ db }: Store, domainId: string): Promise<void> {
  const names = Array.from({ length: SOURCES }, (_, i) => ({
    address: toAddress(i),
    name: `out-${i}.mailer-${i % 37}.example`,
    expiresAt: '2100-01-01T00:00:00Z',
  }));
  for (let i = 0; i < SOURCES; i += 500)
    await updateNames(db, { domainId, now: `${NEWEST}T12:00:00Z` }, names.slice(i, i + 500));
}

/** A report of a day with many sources, of which every tenth fails. */
function aReportOfDay(ago: number) {
  const signatures = [aSignature({ domain: 'mailer.example' })];
  const records = Array.from({ length: SOURCES }, (_, i) =>
    aRecord({
      sourceIp: toAddress(i),
      count: 1 + ((i * 7 + ago) % 50),
      spf: i % 10 === 0 ? 'fail' : 'pass',
      signatures,
    }),
  );
  return aReportOf(records, { begin: `${addDays(NEWEST, -ago)}T00:00:00Z` });
}

/** `npm run bench -- pages` measures what they cost. */
test('the pages of a domain with 400 days of 2,000 sources are as large as those of one with few', async () => {
  const store = await openStore(aDatabasePath());
  const api = await serveApi({ store, dnsChecks: true, ipDatabase: aNetworkFile() });
  const accountId = await aBareAccount(api.db);
  const empty = await aDomain(api.db, accountId, { name: 'empty.example' });
  const { id } = await aDomain(api.db, accountId, { name: 'example.com' });
  for (let ago = 0; ago < DAYS; ago += 1) await receive(api.db, [aReportOfDay(ago)]);
  await nameAll(store, id);
  const { browser } = await aVisitor(api, accountId);
  const page = `/settings/domains/${id}`;
  for (const path of [`/settings/domains/${empty.id}/sources`, page, `${page}?days=365`])
    expect((await browser.get(path)).status).toBe(200);
  const path = `${page}/sources`;
  for (const place of [
    ...['?days=7', '', '?failing=1', '?page=20', '?days=90', '?days=365', '?days=365&failing=1'],
    ...['?days=365&group=network', '?days=365&group=network&within=AS64501'],
    ...['?days=365&group=organisation', '?days=365&mark=unmarked', '?group=network'],
    ...['?group=organisation', '?mark=unmarked', '/198.18.0.0', '/198.18.0.0?days=365'],
  ]) {
    const { status, text } = await browser.get(`${path}${place}`);
    expect(status).toBe(200);
    expect(text.length).toBeLessThan(150_000);
  }
}, 1_200_000);
