import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { toNetworks } from '../../scripts/services/demo-networks.ts';
import { DEMO_NETWORKS, openEmpty } from '../../src/demo/demo-data.ts';
import { type DemoRecord, DOMAINS, listRecords, REPORTERS } from '../../src/demo/traffic.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { aBareAccount, aReport, receive } from '../support/builders.ts';
import { aDatabasePath } from '../support/store.ts';

test.each([
  ['an account', aBareAccount],
  ['reports of nobody', (db: Parameters<typeof receive>[0]) => receive(db, [aReport()])],
])('the demo is not put into a database that has %s', async (_, fill) => {
  const path = aDatabasePath();
  const store = await openStore(path);
  await fill(store.db);
  await expect(openEmpty(path)).rejects.toMatchObject({ code: 'conflict' });
  expect(await store.db.selectFrom('api_key').selectAll().execute()).toEqual([]);
  await store.close();
});
test('the networks of the demo are those that its script writes', () => {
  expect(readFileSync(DEMO_NETWORKS)).toEqual(toNetworks());
});

/** What all reporters saw of a domain on some days before today. */
function mailOf(name: string, days: number): readonly DemoRecord[] {
  const domain = DOMAINS.find((one) => one.name === name);
  if (domain === undefined) throw new Error(`The demo has no ${name}.`);
  return Array.from({ length: days }, (_, i) => i + 1).flatMap((daysAgo) =>
    REPORTERS.flatMap((reporter) => listRecords(domain, reporter, daysAgo)),
  );
}

const passes = ({ dkim, spf }: DemoRecord) => dkim === 'pass' || spf === 'pass';
const sum = (records: readonly DemoRecord[]) =>
  records.reduce((messages, { count }) => messages + count, 0);

describe('the demo has', () => {
  test('a service whose key is broken since two days', () => {
    const service = mailOf('shop.example', 30).filter(
      ({ bounce }) => bounce === 'invoices.example',
    );
    const broken = service.filter(({ isBroken }) => isBroken);
    expect(broken).toHaveLength(2 * REPORTERS.length);
    expect(broken.every((record) => !passes(record))).toBe(true);
    expect(service.filter(({ isBroken }) => !isBroken).every(passes)).toBe(true);
    expect(sum(broken) / sum(service)).toBeGreaterThan(0.1);
  });

  test('a domain that sends no mail, whose name hundreds of addresses use', () => {
    const mail = mailOf('parked.example', 30);
    expect(mail.filter(passes)).toEqual([]);
    expect(sum(mail)).toBeGreaterThan(300);
  });

  test.each(['parked.example', 'shop.example'])(
    'a botnet in the name of %s: each address in a network of its own, with one to three messages in thirty days',
    (name) => {
      const bots = mailOf(name, 30).filter(({ ip }) => /^2001:db8:1...:/.test(ip));
      expect(bots.length).toBeGreaterThanOrEqual(180);
      expect(new Set(bots.map(({ ip }) => ip.slice(0, '2001:db8:1000'.length))).size).toBe(
        bots.length,
      );
      expect(new Set(bots.map(({ count }) => count))).toEqual(new Set([1, 2, 3]));
      expect(bots.every(({ bounce, signature }) => bounce === 'own' && signature === null)).toBe(
        true,
      );
    },
  );

  test('a forwarder, which keeps the signature, and a list, which breaks it and is let through', () => {
    const mail = mailOf('example.com', 30);
    const forwarded = mail.filter(({ bounce }) => bounce === 'alumni.example');
    expect(forwarded.every(({ dkim, spf }) => dkim === 'pass' && spf === 'fail')).toBe(true);
    const listed = mail.filter(({ isOfList }) => isOfList);
    expect(new Set(listed.map(({ bounce }) => bounce))).toEqual(new Set(['lists.example']));
    expect(listed.filter(passes)).toEqual([]);
  });

  test('a domain all of whose mail passes, and one with little mail', () => {
    expect(sum(mailOf('studio.example', 30))).toBeGreaterThan(1_000);
    expect(mailOf('studio.example', 30).every(passes)).toBe(true);
    expect(sum(mailOf('garden.example', 30))).toBeLessThan(1_000);
    expect(mailOf('garden.example', 90).every(passes)).toBe(true);
  });
});
