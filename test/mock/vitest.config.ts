import { defineConfig } from 'vitest/config';
import { EVERY_SUITE } from '../support/every-suite.ts';

/** What a mock server makes of the contract: `npm run test:mock`. It installs Prism when it is missing. */
export default defineConfig({
  test: {
    ...EVERY_SUITE,
    include: ['test/mock/*.check.ts'],
  },
});
