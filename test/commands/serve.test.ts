import { expect, test } from 'vitest';
import { aProgram } from '../support/program.ts';

test.each([
  [['--only', 'work'], /Allowed choices are api/],
  [['--only', 'api', '--sandbox'], /cannot be used with/],
])('serve %j is refused', async (args, message) => {
  const { status, stderr } = await aProgram().run(['serve', ...args]);
  expect(status).toBe(2);
  expect(stderr).toMatch(message);
});
