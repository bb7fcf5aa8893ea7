import { expect, test } from 'vitest';
import { toSizeText } from '../../src/domain/size.ts';

test.each([
  [0, '0 bytes'],
  [1023, '1023 bytes'],
  [1536, '1.5 KiB'],
  [64 * 1024 * 1024, '64 MiB'],
  [5 * 1024 ** 4, '5120 GiB'],
])('%i bytes are %s', (bytes, text) => {
  expect(toSizeText(bytes)).toBe(text);
});
