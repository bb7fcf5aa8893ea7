import { describe, expect, test } from 'vitest';
import { createNetworks } from '../../src/domain/network-address.ts';
import { OpenConnections } from '../../src/domain/open-connections.ts';

function aServer() {
  let nowMs = 0;
  const connections = new OpenConnections<string>(() => nowMs);
  const open = (name: string, address: string, isTrusted = false) => {
    nowMs += 1;
    connections.open(name, address, { isTrusted });
  };
  const use = (name: string) => {
    nowMs += 1;
    connections.use(name);
  };
  return { connections, open, use };
}

const ANY = () => true;

describe('when all places are taken', () => {
  test('the longest silent connection ends of the network that has most', () => {
    const { connections, open, use } = aServer();
    open('alone', '192.0.2.1');
    open('a', '198.51.100.1');
    open('b', '198.51.100.2');
    open('c', '198.51.100.3');
    expect(connections.findToEnd(ANY)).toBe('a');
    use('a');
    expect(connections.findToEnd(ANY)).toBe('b');
    connections.close('b');
    connections.close('c');
    expect(connections.findToEnd(ANY)).toBe('alone');
  });

  test('a client with many IPv6 networks has one', () => {
    const { connections, open } = aServer();
    open('alone', '2001:db8:1::1');
    open('a', '2001:db8:2:1::1');
    open('b', '2001:db8:2:2::1');
    expect(connections.findToEnd(ANY)).toBe('a');
    expect(connections.countOf('2001:db8:2:1::2')).toBe(1);
  });

  test('one that may not end stays, and so does one that is trusted', () => {
    const { connections, open } = aServer();
    open('proxy', '192.0.2.1', true);
    open('a', '192.0.2.2');
    open('b', '192.0.2.2');
    expect(connections.findToEnd((one) => one !== 'a')).toBe('b');
    expect(connections.findToEnd(() => false)).toBeUndefined();
    expect(connections.countOf('192.0.2.1')).toBe(0);
    expect(connections.size).toBe(3);
  });
});

test.each([
  ['192.0.2.7', true],
  ['192.0.2.8', false],
  ['198.51.100.5', true],
  ['2001:db8:1::5', true],
  ['2001:db8:2::5', false],
  ['no address', false],
])('whether %s is in the networks: %s', (address, isIn) => {
  const isTrusted = createNetworks(['192.0.2.0/29', '198.51.100.5', '2001:db8:1::/48']);
  expect(isTrusted(address)).toBe(isIn);
});
