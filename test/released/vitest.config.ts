import { defineConfig } from 'vitest/config';
import { EVERY_SUITE } from '../support/every-suite.ts';

/** Tests of the check for breaking changes: `npm run test:released`. They need oasdiff on the PATH. */
export default defineConfig({
  test: {
    ...EVERY_SUITE,
    include: ['test/released/*.check.ts'],
  },
});
