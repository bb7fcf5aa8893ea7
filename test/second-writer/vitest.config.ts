import { defineConfig } from 'vitest/config';
import { EVERY_SUITE } from '../support/every-suite.ts';

/**
 * Runs tests that write with database files that another process writes to all the time: `npm run
 * test:second-writer`. Every change goes through `db.write`, so a test of each way to change a table is enough.
 */
export default defineConfig({
  test: {
    ...EVERY_SUITE,
    include: [
      'test/{store,alerts,dns}/**/*.test.ts',
      'test/settings/{api-keys,people,sources}.test.ts',
    ],
    // Their random histories open stores of their own.
    exclude: ['test/store/{heads,histories}.test.ts', 'test/alerts/any-order.test.ts'],
    env: { TEST_STORE: 'file' },
    maxWorkers: '100%',
    // Loading the product's modules for each file takes half as long as the tests.
    isolate: false,
  },
});
