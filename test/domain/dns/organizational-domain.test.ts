import { expect, test } from 'vitest';
import { isOfSameOwner } from '../../../src/domain/dns/organizational-domain.ts';

test.each([
  ['mail.example.com', 'example.com', true],
  ['example.com', 'example.net', false],
  ['one.co.uk', 'two.co.uk', false],
  // Strangers get names below these suffixes.
  ['one.github.io', 'two.github.io', false],
  ['reports.one.github.io', 'one.github.io', true],
])('%s and %s are of one owner: %s', async (a, b, isSame) => {
  expect(await isOfSameOwner(a, b)).toBe(isSame);
});
