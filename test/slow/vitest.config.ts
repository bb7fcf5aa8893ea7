import { defineConfig } from 'vitest/config';

/** Tests that `npm test` leaves out because of the time they take: `npm run test:slow`, a step of `.ci/run`. */
export const SLOW = [
  'test/intake/hostile-{containers,folder,mail,values,xml}.test.ts',
  'test/intake/limits.test.ts',
  'test/workflows.test.ts',
];

export default defineConfig({
  test: {
    include: SLOW,
    testTimeout: 60_000,
    maxWorkers: '100%',
    reporters: ['default', './test/support/closing-line.ts'],
  },
});
