import { defineConfig } from 'vitest/config';
import { EVERY_SUITE } from '../support/every-suite.ts';

/** Moves to PostgreSQL that are killed at random moments: `npm run test:move-faults`. */
export default defineConfig({
  test: {
    ...EVERY_SUITE,
    include: ['test/move-faults/*.check.ts'],
    testTimeout: 600_000,
  },
});
