import { describe, expect, test } from 'vitest';
import { toNetwork } from '../../../src/domain/sources/network.ts';

const NETWORK = { asn: 64500, organisation: 'Example Networks', country: null };

describe('a record of a network database', () => {
  test.each([
    [
      'GeoLite2 ASN and DB-IP ASN',
      {
        autonomous_system_number: 64500,
        autonomous_system_organization: 'Example Networks',
      },
      NETWORK,
    ],
    [
      'IPinfo Lite',
      {
        ...{ asn: 'AS64500', as_name: 'Example Networks', as_domain: 'example.net' },
        ...{ country: 'Germany', country_code: 'DE', continent: 'Europe' },
      },
      { ...NETWORK, country: 'DE' },
    ],
    [
      'IPinfo country and ASN',
      { country: 'de', country_name: 'Germany', asn: 'AS64500', as_name: 'Example Networks' },
      { ...NETWORK, country: 'DE' },
    ],
    ['IPinfo ASN', { asn: 'AS64500', name: 'Example Networks', domain: 'example.net' }, NETWORK],
    [
      'DB-IP country and GeoLite2 country',
      { continent: { code: 'EU' }, country: { iso_code: 'DE', names: { en: 'Germany' } } },
      { asn: null, organisation: null, country: 'DE' },
    ],
    [
      'GeoIP2 ISP and Enterprise',
      {
        country: { iso_code: 'DE' },
        traits: { autonomous_system_number: 64500, isp: 'Example Networks' },
      },
      { ...NETWORK, country: 'DE' },
    ],
  ])('of %s', (_name, record, network) => {
    expect(toNetwork(record)).toEqual(network);
  });

  test.each([
    [null],
    ['text'],
    [[1]],
    [{}],
    [{ asn: 'AS', as_name: ' ', country: 'Germany' }],
    [{ asn: {}, as_name: 5, traits: 'x', country: { iso_code: 'DEU' } }],
  ])('without any of them is no network: %j', (record) => {
    expect(toNetwork(record)).toBeUndefined();
  });

  test('has bounded text', () => {
    expect(toNetwork({ as_name: 'x'.repeat(5_000) })?.organisation).toHaveLength(200);
  });
});
