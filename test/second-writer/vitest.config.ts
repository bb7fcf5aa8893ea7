import { defineConfig } from 'vitest/config';

/**
 * Runs the tests of the store, the alerts and the settings pages with database files that another process
 * writes to all the time: `npm run test:second-writer`.
 */
export default defineConfig({
  test: {
    include: ['test/{store,alerts,dns,settings}/**/*.test.ts'],
    env: { TEST_STORE: 'file' },
    testTimeout: 60_000,
    reporters: ['default', './test/support/closing-line.ts'],
  },
});
