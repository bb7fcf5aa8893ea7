import { expect, test } from 'vitest';
import { toSiteNetwork } from '../../src/domain/network-address.ts';

test.each([
  ['192.0.2.77', '192.0.2'],
  ['2001:db8:12:34::1', '2001:db8:12::/48'],
  ['2001:DB8::1', '2001:db8:0::/48'],
  ['2001:db8::1:2:3:4:5', '2001:db8:0::/48'],
  ['::1:2:3:4:5:6', '0:0:1::/48'],
  ['::', '0:0:0::/48'],
])('the network of %s is %s', (address, network) => {
  expect(toSiteNetwork(address)).toBe(network);
});
