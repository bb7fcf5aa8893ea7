import { defineConfig } from 'vitest/config';

/** Walks through the settings pages and the docs in a real browser: `npm run test:browser`. */
export default defineConfig({
  test: {
    include: ['test/browser/*.walk.ts'],
    reporters: ['default', './test/support/closing-line.ts'],
    testTimeout: 120_000,
    // One browser at a time: on a small machine two keep each other waiting.
    maxWorkers: 1,
  },
});
