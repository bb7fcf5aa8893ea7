import { expect, test } from 'vitest';
import { addDays } from '../../src/domain/instant.ts';
import { openStore } from '../../src/store/connection/open.ts';
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
import { aVisitor, type Browser } from '../support/visitor.ts';

const [DAYS, SOURCES] = [400, 2_000];
const NEWEST = '2026-03-14';
const TIMES = 9;

/** A report of a day with many sources, of which every tenth fails. */
function aReportOfDay(ago: number) {
  const signatures = [aSignature({ domain: 'mailer.example' })];
  const records = Array.from({ length: SOURCES }, (_, i) =>
    aRecord({
      sourceIp: `198.${18 + (i >> 15)}.${(i >> 8) & 127}.${i & 255}`,
      count: 1 + ((i * 7 + ago) % 50),
      spf: i % 10 === 0 ? 'fail' : 'pass',
      signatures,
    }),
  );
  return aReportOf(records, { begin: `${addDays(NEWEST, -ago)}T00:00:00Z` });
}

/** The median time until a page is there, in milliseconds, and its bytes. */
async function measure(browser: Browser, path: string) {
  const times: number[] = [];
  let bytes = 0;
  for (let i = 0; i < TIMES; i += 1) {
    const begunAt = performance.now();
    const { status, text } = await browser.get(path);
    times.push(performance.now() - begunAt);
    expect(status).toBe(200);
    bytes = text.length;
  }
  return { ms: times.sort((a, b) => a - b)[Math.floor(TIMES / 2)] ?? 0, bytes };
}

/** Times are printed, not asserted: they are the machine's. What a page reads is bounded by query plans. */
test('the pages of a domain with 400 days of 2,000 sources are as large as those of one with few', async () => {
  const store = await openStore(aDatabasePath());
  const api = await serveApi({ store, dnsChecks: true });
  const accountId = await aBareAccount(api.db);
  const { browser } = await aVisitor(api, accountId);
  const empty = await aDomain(api.db, accountId, { name: 'empty.example' });
  const { id } = await aDomain(api.db, accountId, { name: 'example.com' });
  for (let ago = 0; ago < DAYS; ago += 1) await receive(api.db, [aReportOfDay(ago)]);
  const ofEmpty = await measure(browser, `/settings/domains/${empty.id}/sources`);
  const print = (name: string, { ms, bytes }: typeof ofEmpty) =>
    process.stdout.write(
      `${name.padEnd(28)} ${ms.toFixed(1).padStart(8)} ms ${(ms / ofEmpty.ms).toFixed(1).padStart(6)} × ${String(bytes).padStart(8)} bytes\n`,
    );
  print('no reports', ofEmpty);
  const path = `/settings/domains/${id}/sources`;
  const page = path.replace('/sources', '');
  for (const query of ['', '?days=365'])
    print(`the domain ${query}`, await measure(browser, `${page}${query}`));
  for (const place of [
    ...['?days=7', '', '?failing=1', '?page=20', '?days=90', '?days=365'],
    ...['?group=organisation', '?mark=unmarked', '/198.18.0.0', '/198.18.0.0?days=365'],
  ]) {
    const measured = await measure(browser, `${path}${place}`);
    print(place === '' ? '30 days' : place, measured);
    expect(measured.bytes).toBeLessThan(150_000);
  }
}, 600_000);
