import { expect, test } from 'vitest';
import { describeSystemError } from '../../src/domain/system-error.ts';

test.each([
  ['ENOENT', 'there is no such file or folder'],
  ['EACCES', 'this user may not access it'],
  ['ENOSPC', 'the disk is full'],
  ['EUNKNOWN', 'error EUNKNOWN'],
])('%s is told as: %s', (code, words) => {
  const error = Object.assign(new Error(`${code}: some text, open 'x'`), { code });
  expect(describeSystemError(error)).toBe(words);
});
