import { defineConfig } from 'vitest/config';
import { EVERY_SUITE } from './test/support/every-suite.ts';

/** Walks through the settings pages and the docs in a real browser: `npm run test:browser`. */
export default defineConfig({
  test: {
    ...EVERY_SUITE,
    include: ['test/browser/*.walk.ts'],
    testTimeout: 900_000,
    // One browser for all files: on a small machine two keep each other waiting.
    maxWorkers: 1,
    isolate: false,
  },
});
