import { defineConfig } from 'vitest/config';

/** Walks through the settings pages and the docs in a real browser: `npm run test:browser`. */
export default defineConfig({
  test: {
    include: ['test/browser/*.walk.ts'],
    reporters: ['default', './test/support/closing-line.ts'],
    testTimeout: 120_000,
    // Two browsers at once are enough for a small machine.
    maxWorkers: 2,
  },
});
