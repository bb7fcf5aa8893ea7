import { renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { anMmdb } from '../../scripts/mmdb.ts';
import { openIpDatabase } from '../../src/settings/ip-database.ts';
import { aDatabasePath } from '../support/store.ts';

const RECORD = {
  autonomous_system_number: 64500,
  autonomous_system_organization: 'Example Networks',
};
const NETWORKS = {
  '192.0.2.0/24': RECORD,
  '198.51.100.128/25': { asn: 'AS64501', as_name: '\u202eevil<b>', country_code: 'de' },
  '2001:db8::/32': { country: { iso_code: 'FR' } },
};

/** A folder that is removed at the end of the test. */
const aFolder = () => dirname(aDatabasePath());

function aFile(bytes: Buffer): string {
  const file = join(aFolder(), 'networks.mmdb');
  writeFileSync(file, bytes);
  return file;
}

async function open(file: string, lookMs?: number) {
  const warned: string[] = [];
  const warn = ({ message }: Error) => void warned.push(message);
  const database = await openIpDatabase(file, {
    warn,
    ...(lookMs === undefined ? {} : { lookMs }),
  });
  onTestFinished(database.close);
  return { ...database, warned };
}

describe('the database of networks', () => {
  test('knows the network of an address of either kind', async () => {
    const { find } = await open(aFile(anMmdb({ networks: NETWORKS })));
    expect(find('192.0.2.77')).toEqual({
      ...{ asn: 64500, organisation: 'Example Networks', country: null },
    });
    expect(find('198.51.100.200')).toMatchObject({ asn: 64501, country: 'DE' });
    expect(find('2001:db8::25')).toEqual({ asn: null, organisation: null, country: 'FR' });
  });

  test('does not know other addresses, nor those of IPv6 when it is one of IPv4', async () => {
    const { find } = await open(aFile(anMmdb({ networks: NETWORKS })));
    expect(['198.51.100.1', '203.0.113.1', '2001:db9::1'].map(find)).toEqual([
      ...[undefined, undefined, undefined],
    ]);
    const old = await open(aFile(anMmdb({ networks: { '192.0.2.0/24': RECORD }, ipVersion: 4 })));
    expect(old.find('2001:db8::1')).toBeUndefined();
    expect(old.find('192.0.2.1')).toMatchObject({ asn: 64500 });
  });

  test.each([
    ['is missing', () => join(aFolder(), 'none.mmdb'), /none\.mmdb cannot be read: /],
    ['is a folder', () => aFolder(), /is not a file\.$/],
    ['is empty', () => aFile(Buffer.alloc(0)), /is not an MMDB file, or not all of it\.$/],
    [
      'is cut off',
      () => aFile(anMmdb({ networks: NETWORKS }).subarray(0, -250)),
      /is not an MMDB file, or not all of it\.$/,
    ],
    [
      'has broken metadata',
      () => aFile(Buffer.from('\xab\xcd\xefMaxMind.com\xff\xff', 'latin1')),
      /is a broken MMDB file: /,
    ],
  ])('that %s is an error at start, in words', async (_what, toFile, message) => {
    const error = await open(toFile()).catch((thrown: unknown) => thrown);
    expect((error as Error).message).toMatch(message);
  });

  test('with broken records knows no network, and fails no page', async () => {
    const bytes = anMmdb({ networks: { '192.0.2.0/24': RECORD } });
    const { find } = await open(
      aFile(Buffer.from(bytes.map((byte) => (byte === 0xe2 ? 0xff : byte)))),
    );
    expect(find('192.0.2.1')).toBeUndefined();
  });

  test('is read again when the file is replaced, and stays when the new one is broken', async () => {
    const file = aFile(anMmdb({ networks: NETWORKS }));
    const { find, warned } = await open(file, 5);
    const other = join(aFolder(), 'new.mmdb');
    const replace = (bytes: Buffer) => {
      writeFileSync(other, bytes);
      renameSync(other, file);
    };
    replace(
      anMmdb({ networks: { '192.0.2.0/24': { ...RECORD, autonomous_system_number: 64510 } } }),
    );
    await expect.poll(() => find('192.0.2.1')?.asn).toBe(64510);
    replace(Buffer.from('no database'));
    await expect.poll(() => warned).toHaveLength(1);
    expect(warned[0]).toMatch(/is not an MMDB file/);
    expect(find('192.0.2.1')?.asn).toBe(64510);
  });
});
