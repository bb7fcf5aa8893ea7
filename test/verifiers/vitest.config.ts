import { defineConfig } from 'vitest/config';

/** Receivers of the published verifiers, which need python3 and go: `npm run test:verifiers`, a step of `.ci/run`. */
export default defineConfig({
  test: {
    include: ['test/verifiers/*.check.ts'],
    testTimeout: 300_000,
    reporters: ['default', './test/support/closing-line.ts'],
  },
});
