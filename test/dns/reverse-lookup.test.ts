import { describe, expect, test } from 'vitest';
import { createNameLookUp } from '../../src/dns/reverse-lookup.ts';
import { serveDns, type Zone } from '../support/dns-server.ts';

const V6 = '2001:db8::25';
const V6_NAME = `5.2.${'0.'.repeat(22)}8.b.d.0.1.0.0.2.ip6.arpa`;
const manyNames = Array.from({ length: 20 }, (_, i) => `n${String(i).padStart(2, '0')}.example`);

const zone: Zone = {
  '1.2.0.192.in-addr.arpa': { ptr: ['Mail.Example.com'] },
  'mail.example.com': { a: ['198.51.100.1', '192.0.2.1'] },
  [V6_NAME]: { ptr: ['six.example.com'] },
  'six.example.com': { aaaa: ['2001:db8:0::25'] },
  // Anybody can publish the name of a bank for an address of theirs.
  '2.2.0.192.in-addr.arpa': { ptr: ['bank.example'] },
  'bank.example': { a: ['198.51.100.7'] },
  '3.2.0.192.in-addr.arpa': { ptr: ['bad name<b>', 'localhost', 'real.example.com'] },
  'real.example.com': { a: ['192.0.2.3'] },
  '4.2.0.192.in-addr.arpa': 'servfail',
  '5.2.0.192.in-addr.arpa': { ptr: ['broken.example.com'] },
  'broken.example.com': 'servfail',
  '6.2.0.192.in-addr.arpa': { ptr: manyNames },
  '7.2.0.192.in-addr.arpa': 'silent',
};

describe('the name of an address', () => {
  test.each([
    ['leads back to it', '192.0.2.1', 'mail.example.com'],
    ['leads back to it, with IPv6', V6, 'six.example.com'],
    ['is none when it leads elsewhere', '192.0.2.2', null],
    ['is the one of several that leads back', '192.0.2.3', 'real.example.com'],
    ['is none when there is none', '192.0.2.99', null],
    ['is not known when the server fails', '192.0.2.4', undefined],
    ['is not known when the server fails for the name', '192.0.2.5', undefined],
  ])('%s', async (_what, address, name) => {
    const dns = await serveDns(zone);
    expect(await createNameLookUp([dns.address])(address)).toBe(name);
  });

  test('is not waited for longer than its deadline', async () => {
    const dns = await serveDns(zone);
    const lookUp = createNameLookUp([dns.address], 30);
    const begunAt = performance.now();
    expect(await lookUp('192.0.2.7')).toBeUndefined();
    expect(performance.now() - begunAt).toBeLessThan(3_000);
  });

  test('is looked for among five names at most', async () => {
    const dns = await serveDns(zone);
    expect(await createNameLookUp([dns.address])('192.0.2.6')).toBeNull();
    expect(dns.asked).toHaveLength(1 + 5);
  });
});
