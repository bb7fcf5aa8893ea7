import { defineConfig } from 'vitest/config';
import { EVERY_SUITE } from '../support/every-suite.ts';

/**
 * Programs that others wrote, against a sandbox: pollers, the schemas of SIEMs, packed clients. They need python3, and install the
 * rest by pip and npm: `npm run test:integrations`, steps of `.ci/run`.
 */
export default defineConfig({
  test: {
    ...EVERY_SUITE,
    include: ['test/integrations/*.check.ts'],
    // What two of them install at the same time takes no less time.
    fileParallelism: false,
  },
});
