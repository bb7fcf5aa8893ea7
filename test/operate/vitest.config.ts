import { defineConfig } from 'vitest/config';

/** Tries the files of docs/operate with the programs that read them: `npm run test:operate`. */
export default defineConfig({
  test: {
    include: ['test/operate/*.check.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    reporters: ['default', './test/support/closing-line.ts'],
  },
});
