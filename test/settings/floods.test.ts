import { expect, test, vi } from 'vitest';
import { addDays } from '../../src/domain/instant.ts';
import { startApi } from '../support/api.ts';
import {
  aBareAccount,
  aDomain,
  aRecord,
  aReportOf,
  aSignature,
  receive,
} from '../support/builders.ts';
import { aVisitor, toReadable } from '../support/visitor.ts';

const TODAY = '2026-03-15';
const NAME = 'own.example';

/** A domain that is reported by one reporter, and somebody who looks at it. */
async function aWorld() {
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.setSystemTime(new Date(`${TODAY}T12:00:00Z`));
  const api = await startApi();
  const accountId = await aBareAccount(api.db);
  const { id } = await aDomain(api.db, accountId, { name: NAME });
  const { browser } = await aVisitor(api, accountId);
  let reports = 0;
  const send = async (ago: number, records: Parameters<typeof aReportOf>[0], sender = {}) => {
    const report = { domain: NAME, reportId: `r${++reports}` };
    const begin = `${addDays(TODAY, -ago)}T00:00:00Z`;
    await receive(api.db, [aReportOf(records, { ...report, begin })], `${TODAY}T00:00:00Z`, sender);
  };
  const close = async () => {
    await api.close();
    vi.useRealTimers();
  };
  return { id, browser, send, close };
}

const addressesOf = (net: number, count: number) =>
  Array.from({ length: count }, (_, i) => `10.${net}.${i >> 8}.${i & 255}`);

test('a broken key is not hidden by a thousand addresses that send more', async () => {
  const { id, browser, send, close } = await aWorld();
  const passed = { spf: 'pass', dkim: 'pass', spfDomain: NAME, headerFrom: NAME } as const;
  const [intact, broken, amazon] = [
    aSignature({ domain: NAME, selector: 's1', result: 'pass' }),
    aSignature({ domain: NAME, selector: 's2', result: 'fail' }),
    aSignature({ domain: 'amazonses.com', selector: 'x', result: 'pass' }),
  ];
  const own = addressesOf(0, 1_000).map((sourceIp) =>
    aRecord({ sourceIp, count: 60, ...passed, signatures: [intact] }),
  );
  const service = { spfDomain: 'amazonses.com', spfResult: 'pass', headerFrom: NAME };
  const failing = addressesOf(9, 400).map((sourceIp) =>
    aRecord({ sourceIp, count: 50, ...service, signatures: [broken, amazon] }),
  );
  for (let ago = 0; ago < 3; ago += 1) await send(ago, [...own, ...failing]);
  const text = toReadable((await browser.get(`/settings/domains/${id}`)).text);
  expect(text).toContain(
    `Next step Amazon SES signs as ${NAME} (selector s2), and the signature does not verify. All of its 60,000 messages fail. Compare its key in DNS with the one that signs.`,
  );
  await close();
});

test('pages answer for more addresses than are judged, also for those that sent least in the month', async () => {
  const { id, browser, send, close } = await aWorld();
  const refused = { spfDomain: NAME, spfResult: 'fail', headerFrom: NAME };
  const flood = async (ago: number, net: number, count: number) =>
    await send(
      ago,
      addressesOf(net, 1_000).map((sourceIp) => aRecord({ sourceIp, count, ...refused })),
      { authenticated: '', claimed: [] },
    );
  for (let ago = 0; ago < 22; ago += 1) await flood(ago, ago, ago === 0 ? 1 : 2);
  await flood(40, 0, 50);
  const domain = `/settings/domains/${id}`;
  const paths = [
    '/settings/overview',
    domain,
    ...['7', '90'].map((days) => `${domain}?days=${days}`),
  ];
  for (const path of [...paths, `${domain}/sources?days=7`, `${domain}/sources/10.0.0.1?days=7`])
    expect([path, (await browser.get(path)).status]).toEqual([path, 200]);
  await close();
});
