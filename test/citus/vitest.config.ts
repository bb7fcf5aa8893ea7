import { defineConfig } from 'vitest/config';
import { ALONE, NOT_ON_CITUS, NOT_ON_POSTGRES, SUITES } from '../postgres/suites.ts';
import { EVERY_SUITE } from '../support/every-suite.ts';

/**
 * The suites of PostgreSQL on a cluster of three nodes: `npm run test:citus`, with the folder of the programs of a PostgreSQL that
 * has Citus in `CITUS_BIN`.
 */
export default defineConfig({
  test: {
    ...EVERY_SUITE,
    maxWorkers: '100%',
    include: [...SUITES, 'test/citus/*.fault.ts'],
    exclude: [...ALONE, ...NOT_ON_POSTGRES, ...NOT_ON_CITUS],
    env: { TEST_STORE: 'postgres', TEST_STORE_ON: 'citus' },
    setupFiles: [...EVERY_SUITE.setupFiles, 'test/support/divided-statements.ts'],
    globalSetup: ['test/support/citus-cluster.ts'],
    isolate: false,
  },
});
