import { defineConfig } from 'vitest/config';

/** Runs the mail doors with real servers, Debian's dovecot-imapd and postfix: `npm run test:mail`, as root. */
export default defineConfig({
  test: {
    include: ['test/mail/**/*.check.ts'],
    testTimeout: 300_000,
    hookTimeout: 60_000,
    // One file takes as long as all others, and the others wait most of the time.
    maxWorkers: 2,
    reporters: ['default', './test/support/closing-line.ts'],
  },
});
