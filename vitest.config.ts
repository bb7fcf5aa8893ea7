import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { WITH_REDIS } from './test/redis/vitest.config.ts';
import { SLOW } from './test/slow/vitest.config.ts';

/** Where tests note what of the contract they exercise (test/support/contract-coverage.ts), one for each run. */
const exercised = mkdtempSync(join(tmpdir(), 'plumbline-exercised-'));
process.once('exit', () => rmSync(exercised, { recursive: true }));

/** Has to know what all other tests exercised. */
const LAST = 'test/contract-coverage.test.ts';
/** Files that replace a module. Each gets a process of its own. */
const ALONE = ['test/settings/sign-in.test.ts'];

export default defineConfig({
  test: {
    reporters: ['default', './test/support/closing-line.ts'],
    testTimeout: 30_000,
    // By default, a machine with two processors has one worker.
    maxWorkers: '100%',
    env: { CONTRACT_COVERAGE: exercised },
    projects: [
      {
        extends: true,
        test: {
          name: 'tests',
          include: ['test/**/*.test.ts'],
          exclude: [LAST, ...ALONE, ...SLOW, ...WITH_REDIS],
          // Loading the product's modules for each file takes as long as the tests.
          isolate: false,
          // Not 0: a machine that has one worker would run that group after all others.
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: { name: 'alone', include: ALONE, sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        test: { name: 'coverage', include: [LAST], sequence: { groupOrder: 2 } },
      },
    ],
  },
});
