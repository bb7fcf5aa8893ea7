import { defineConfig } from 'vitest/config';
import { EVERY_SUITE } from '../support/every-suite.ts';

/** Tests that need the program redis-server: `npm run test:redis`, a step of `.ci/run`. */
export const WITH_REDIS = ['test/redis/*.test.ts'];

export default defineConfig({
  test: {
    ...EVERY_SUITE,
    include: WITH_REDIS,
  },
});
