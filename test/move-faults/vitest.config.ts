import { defineConfig } from 'vitest/config';

/** Moves to PostgreSQL that are killed at random moments: `npm run test:move-faults`. */
export default defineConfig({
  test: {
    include: ['test/move-faults/*.check.ts'],
    testTimeout: 600_000,
    hookTimeout: 120_000,
    reporters: ['default', './test/support/closing-line.ts'],
  },
});
