import { defineConfig } from 'vitest/config';
import { EVERY_SUITE } from '../support/every-suite.ts';
import { ALONE, SLOW_ON_POSTGRES, WITH_MORE_CASES } from './suites.ts';

const shared = {
  env: { TEST_STORE: 'postgres', FULL_COUNTS: '1' },
  globalSetup: ['test/support/postgres-server.ts'],
};

/**
 * What `npm test` leaves out on PostgreSQL because of the time it takes, and all random cases of the store's tests:
 * `npm run test:postgres`.
 */
export default defineConfig({
  test: {
    ...EVERY_SUITE,
    maxWorkers: '100%',
    projects: [
      {
        extends: true,
        test: {
          ...shared,
          name: 'postgres',
          setupFiles: ['test/support/divided-statements.ts'],
          include: [...SLOW_ON_POSTGRES, ...WITH_MORE_CASES],
          isolate: false,
          // A worker that changes between projects begins anew, so they follow one another.
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: 'postgres alone',
          include: ALONE,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          name: 'postgres by months',
          include: [
            'test/store/{batches,changes,corrections,documents,heads,pages}.test.ts',
            'test/store/reports/listing.test.ts',
          ],
          env: { TEST_STORE: 'postgres' },
          globalSetup: ['test/support/postgres-months.ts'],
          isolate: false,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
