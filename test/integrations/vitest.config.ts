import { defineConfig } from 'vitest/config';

/**
 * Programs that others wrote, against a sandbox: pollers, the schemas of SIEMs, packed clients. They need python3, and install the
 * rest by pip and npm: `npm run test:integrations`, steps of `.ci/run`.
 */
export default defineConfig({
  test: {
    include: ['test/integrations/*.check.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // What two of them install at the same time takes no less time.
    fileParallelism: false,
    reporters: ['default', './test/support/closing-line.ts'],
  },
});
