import { defineConfig } from 'vitest/config';
import { EVERY_SUITE } from '../support/every-suite.ts';

/** Receivers of the published verifiers, which need python3 and go: `npm run test:verifiers`, a step of `.ci/run`. */
export default defineConfig({
  test: {
    ...EVERY_SUITE,
    include: ['test/verifiers/*.check.ts'],
  },
});
