import { defineConfig } from 'vitest/config';

/** Tests of the check for breaking changes: `npm run test:released`. They need oasdiff on the PATH. */
export default defineConfig({
  test: {
    include: ['test/released/*.check.ts'],
    testTimeout: 60_000,
    reporters: ['default', './test/support/closing-line.ts'],
  },
});
