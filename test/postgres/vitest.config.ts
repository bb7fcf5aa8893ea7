import { defineConfig } from 'vitest/config';
import { ALONE, NOT_ON_POSTGRES, SUITES } from './suites.ts';

const shared = {
  env: { TEST_STORE: 'postgres', FULL_COUNTS: '1' },
  globalSetup: ['test/support/postgres-server.ts'],
};

/**
 * The tests of the store, the alerts, the settings pages and the API on PostgreSQL, with all their random cases:
 * `npm run test:postgres`. `npm test` runs most of them with few cases.
 */
export default defineConfig({
  test: {
    testTimeout: 120_000,
    maxWorkers: '100%',
    reporters: ['default', './test/support/closing-line.ts'],
    projects: [
      {
        extends: true,
        test: {
          ...shared,
          name: 'postgres',
          include: SUITES,
          exclude: [...ALONE, ...NOT_ON_POSTGRES],
          isolate: false,
        },
      },
      { extends: true, test: { ...shared, name: 'postgres alone', include: ALONE } },
    ],
  },
});
