import { defineConfig } from 'vitest/config';

/** Servers and processes that are killed, connections that are cut, replicas: `npm run test:postgres-faults`. */
export default defineConfig({
  test: {
    include: ['test/postgres-faults/*.fault.ts'],
    testTimeout: 900_000,
    hookTimeout: 60_000,
    // What is measured against a promise of seconds has the processors for itself.
    fileParallelism: false,
    reporters: ['default', './test/support/closing-line.ts'],
  },
});
