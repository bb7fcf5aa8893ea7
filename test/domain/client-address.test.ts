import { describe, expect, test } from 'vitest';
import { toClientAddress } from '../../src/domain/client-address.ts';

const PROXY = '192.0.2.1';
const isTrusted = (address: string) => address.startsWith('192.0.2.');

describe('the client address behind a trusted proxy', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.7:443', '203.0.113.7'],
    ['2001:db8::1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::ffff:cb00:7107', '203.0.113.7'],
    ['[::ffff:203.0.113.7]:443', '203.0.113.7'],
    ['198.51.100.1, 203.0.113.7', '203.0.113.7'],
    ['203.0.113.7, 192.0.2.2', '203.0.113.7'],
    ['198.51.100.1, 203.0.113.7:1, 192.0.2.2:2', '203.0.113.7'],
    ['nonsense, 203.0.113.7', '203.0.113.7'],
  ])('X-Forwarded-For: %s counts under %s', (forwardedFor, address) => {
    expect(toClientAddress({ peer: PROXY, forwardedFor, isTrusted })).toBe(address);
  });

  test.each([
    '',
    ',',
    'nonsense',
    'unknown',
    '203.0.113.7:',
    '203.0.113.7:999999',
    '[203.0.113.7]:1',
  ])(
    'X-Forwarded-For: “%s” is not an address, and the request counts under the proxy',
    (forwardedFor) => {
      expect(toClientAddress({ peer: PROXY, forwardedFor, isTrusted })).toBe(PROXY);
    },
  );

  test('an invalid entry that a second proxy passes on counts under the second proxy', () => {
    const forwardedFor = 'nonsense, 192.0.2.2';
    expect(toClientAddress({ peer: PROXY, forwardedFor, isTrusted })).toBe('192.0.2.2');
  });

  test('X-Forwarded-For of a client that is not a proxy is ignored', () => {
    const sender = { peer: '::ffff:203.0.113.9', forwardedFor: '198.51.100.1', isTrusted };
    expect(toClientAddress(sender)).toBe('203.0.113.9');
  });
});
