import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Line, parseLine, toTable } from '../../scripts/networks/table.ts';
import { openShippedNetworks } from '../../src/settings/ip-database.ts';
import { type Api, serveApi } from '../support/api.ts';
import { aDomain, anAccount, aRecord, aReportOf, receive } from '../support/builders.ts';
import { aDatabasePath } from '../support/store.ts';
import { aVisitor } from '../support/visitor.ts';

const V4 = [
  '3221225984,3221226111,64500,"Example ""Own"" Networks, Inc."', // 192.0.2.0/25
  '3221226112,3221226239,64501,Mailer', // 192.0.2.128/25
  '3325256704,3325256959,64500,Other name of the same', // 198.51.100.0/24
];
const V6 = [
  '42540766411282592856903984951653826560,42540766490510755371168322545197776895,64502,Six',
]; // 2001:db8::/32

function aFile(bytes: Buffer): string {
  const file = join(dirname(aDatabasePath()), 'networks.mmdb');
  writeFileSync(file, bytes);
  return file;
}

const aTable = (version = '1.0.0') =>
  toTable(version, { v4: V4.flatMap(parseLine), v6: V6.flatMap(parseLine) });

const open = (bytes: Buffer) => openShippedNetworks(aFile(bytes));

const toText = (key: number) =>
  [24, 16, 8, 0].map((bits) => Math.floor(key / 2 ** bits) % 256).join('.');

describe('the networks that come with Plumbline', () => {
  test('have the number and name of an address of either kind, by the first line of a number', async () => {
    const own = { asn: 64500, organisation: 'Example "Own" Networks, Inc.', country: null };
    const networks = await open(aTable());
    const find = (address: string) => networks?.find(address);
    expect(find('192.0.2.0')).toEqual(own);
    expect(find('192.0.2.127')).toEqual(own);
    expect(find('192.0.2.128')?.organisation).toBe('Mailer');
    expect(find('198.51.100.255')).toEqual(own);
    expect(find('2001:db8::1')?.asn).toBe(64502);
    expect(find('2001:db8:ffff:ffff:ffff:ffff:ffff:ffff')?.asn).toBe(64502);
  });

  test('do not know what is before, between and behind their ranges', async () => {
    const networks = await open(aTable());
    for (const address of [
      '0.0.0.0',
      '192.0.1.255',
      '192.0.3.0',
      '198.51.101.0',
      '255.255.255.255',
    ])
      expect(networks?.find(address)).toBeUndefined();
    for (const address of ['::', '2001:db7:ffff::', '2001:db9::', 'ffff:ffff:ffff:ffff::'])
      expect(networks?.find(address)).toBeUndefined();
  });

  test('find for any address what a search through all lines finds', async () => {
    const line = fc.record({
      first: fc.nat(400),
      length: fc.nat(20),
      asn: fc.integer({ min: 1, max: 5 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 30 }), async (given) => {
        const lines: Line[] = given
          .toSorted((a, b) => a.first - b.first)
          .map(({ first, length, asn }) => ({
            ...{ first: BigInt(first), last: BigInt(first + length) },
            ...{ asn, name: `Network ${asn}` },
          }));
        // Of lines that overlap, the first one counts.
        const counted: Line[] = [];
        for (const line of lines)
          if (line.first > (counted.at(-1)?.last ?? -1n)) counted.push(line);
        const networks = await open(toTable('1', { v4: lines, v6: [] }));
        for (let key = 0; key < 430; key += 1) {
          const wanted = counted.find(({ first, last }) => first <= key && key <= last)?.asn;
          expect(networks?.find(toText(key))?.asn).toBe(wanted);
        }
      }),
      { numRuns: 50 },
    );
  });

  test('cut a name that is too long between two characters', async () => {
    const v4 = [{ first: 0n, last: 9n, asn: 64500, name: '\u{1f4ee}'.repeat(100) }];
    const networks = await open(toTable('1', { v4, v6: [] }));
    expect(networks?.find('0.0.0.1')?.organisation).toBe('\u{1f4ee}'.repeat(63));
  });

  test('are none without their file', async () => {
    expect(await openShippedNetworks(join(dirname(aDatabasePath()), 'none.mmdb'))).toBeUndefined();
  });
});

describe('pages and lists with the networks that come with Plumbline', () => {
  async function aDomainWithMail({ db }: Pick<Api, 'db'>) {
    const { id: accountId, key } = await anAccount(db);
    const { id } = await aDomain(db, accountId, { name: 'example.com' });
    await receive(db, [aReportOf([aRecord({ sourceIp: '192.0.2.129', count: 7 })])]);
    return { accountId, key, id };
  }

  const RANGE = '?from=2026-03-01&to=2026-03-31';

  test('name them, and who made the data', async () => {
    const api = await serveApi({ shippedNetworks: aFile(aTable()) });
    const { accountId, id } = await aDomainWithMail(api);
    const { browser } = await aVisitor(api, accountId);
    const path = `/settings/domains/${id}/sources`;
    for (const place of [
      `${RANGE}&group=address`,
      `${RANGE}&group=network`,
      `/192.0.2.129${RANGE}`,
    ]) {
      const { text } = await browser.get(`${path}${place}`);
      expect(text).toContain('AS64501 Mailer');
      expect(text).toContain('href="https://db-ip.com/"');
    }
  });

  test('have another entity tag with other data', async () => {
    const api = await serveApi({ shippedNetworks: aFile(aTable('1')) });
    const { key, id } = await aDomainWithMail(api);
    const path = `/v1/external/domains/${id}/sources?from=2026-03-01&until=2026-03-31`;
    const { headers, body } = await api.get(path, { key });
    expect(body.data[0].network).toEqual({ asn: 64501, organisation: 'Mailer', country: null });
    const asked = { key, headers: { 'If-None-Match': String(headers['etag']) } };
    expect((await api.get(path, asked)).status).toBe(304);
    const other = await serveApi({
      store: { ...api.store, close: async () => {} },
      shippedNetworks: aFile(aTable('2')),
    });
    expect((await other.get(path, asked)).status).toBe(200);
  });
});
