import { defineConfig } from 'vitest/config';

/** The tests of the store, the alerts, the settings pages and the API, on PostgreSQL. */
export default defineConfig({
  test: {
    name: 'postgres',
    include: ['test/{store,alerts,settings,external}/**/*.test.ts'],
    env: { TEST_STORE: 'postgres' },
    globalSetup: ['test/support/postgres-server.ts'],
    testTimeout: 30_000,
    maxWorkers: '100%',
    isolate: false,
    reporters: ['default', './test/support/closing-line.ts'],
  },
});
