import { defineConfig } from 'vitest/config';
import { EVERY_SUITE } from '../support/every-suite.ts';

/** Servers and processes that are killed, connections that are cut, replicas: `npm run test:postgres-faults`. */
export default defineConfig({
  test: {
    ...EVERY_SUITE,
    include: ['test/postgres-faults/*.fault.ts'],
    testTimeout: 900_000,
    // What is measured against a promise of seconds has the processors for itself.
    fileParallelism: false,
  },
});
