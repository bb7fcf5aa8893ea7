import { defineConfig } from 'vitest/config';

/** Tests that need the program redis-server: `npm run test:redis`, a step of `.ci/run`. */
export const WITH_REDIS = ['test/redis/*.test.ts'];

export default defineConfig({
  test: {
    include: WITH_REDIS,
    testTimeout: 60_000,
    reporters: ['default', './test/support/closing-line.ts'],
  },
});
