import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { RANDOM } from './test/histories/vitest.config.ts';
import { ALONE, NOT_ON_POSTGRES, SLOW_ON_POSTGRES, SUITES } from './test/postgres/suites.ts';
import { WITH_REDIS } from './test/redis/vitest.config.ts';
import { SLOW } from './test/slow/vitest.config.ts';
import { EVERY_SUITE } from './test/support/every-suite.ts';

/** Where tests note what of the contract they exercise (test/support/contract-coverage.ts), one for each run. */
const exercised = mkdtempSync(join(tmpdir(), 'plumbline-exercised-'));
process.once('exit', () => rmSync(exercised, { recursive: true }));

/** Has to know what all other tests exercised. */
const LAST = 'test/contract-coverage.test.ts';

export default defineConfig({
  test: {
    ...EVERY_SUITE,
    // By default, a machine with two processors has one worker.
    maxWorkers: '100%',
    env: { CONTRACT_COVERAGE: exercised },
    // No test may depend on the one before it. `--sequence.seed` repeats an order that was printed; CI has one order.
    sequence: {
      shuffle: { files: true, tests: true },
      ...(process.env['CI'] === 'true' && { seed: 1 }),
    },
    projects: [
      {
        extends: true,
        test: {
          name: 'sqlite',
          include: ['test/**/*.test.ts'],
          exclude: [LAST, 'test/postgres/**', ...ALONE, ...RANDOM, ...SLOW, ...WITH_REDIS],
          // Loading the product's modules for each file takes as long as the tests.
          isolate: false,
          // A worker that changes between projects begins anew, so they follow one another. Not 0: a machine that has one
          // worker would run that group after all others.
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: SUITES,
          exclude: [...ALONE, ...NOT_ON_POSTGRES, ...SLOW_ON_POSTGRES],
          env: { TEST_STORE: 'postgres' },
          setupFiles: ['test/support/divided-statements.ts'],
          globalSetup: ['test/support/postgres-server.ts'],
          isolate: false,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: { name: 'coverage', include: [LAST], sequence: { groupOrder: 3 } },
      },
    ],
  },
});
