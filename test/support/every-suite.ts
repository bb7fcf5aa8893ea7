import type { ViteUserConfig } from 'vitest/config';

/** How long tests wait for what has to happen. */
export const PATIENCE_MS = 120_000;

/**
 * What all suites have in common. Nothing is measured against these limits: they end what hangs, and a machine that does
 * thirty other things at once stays below them.
 */
export const EVERY_SUITE = {
  reporters: ['default', './test/support/closing-line.ts'],
  setupFiles: ['./test/support/equal-bytes.ts', './test/support/fixed-seeds.ts'],
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: PATIENCE_MS, interval: 10 } },
} satisfies ViteUserConfig['test'];
