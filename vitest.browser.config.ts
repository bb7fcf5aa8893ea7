import { defineConfig } from 'vitest/config';

/** Walks through the settings pages and the docs in a real browser: `npm run test:browser`. */
export default defineConfig({
  test: {
    include: ['test/browser/*.walk.ts'],
    reporters: ['default', './test/support/closing-line.ts'],
    testTimeout: 900_000,
    expect: { poll: { timeout: 120_000 } },
    // One browser for all files: on a small machine two keep each other waiting.
    maxWorkers: 1,
    isolate: false,
  },
});
