import { defineConfig } from 'vitest/config';

/** The check for breaking changes, checked: `npm run test:released`. It needs oasdiff on the PATH. */
export default defineConfig({
  test: {
    include: ['test/released/*.check.ts'],
    reporters: ['default', './test/support/closing-line.ts'],
  },
});
