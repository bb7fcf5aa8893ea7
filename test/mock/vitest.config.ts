import { defineConfig } from 'vitest/config';

/** What a mock server makes of the contract: `npm run test:mock`. It installs Prism when it is missing. */
export default defineConfig({
  test: {
    include: ['test/mock/*.check.ts'],
    testTimeout: 60_000,
    hookTimeout: 300_000,
    reporters: ['default', './test/support/closing-line.ts'],
  },
});
