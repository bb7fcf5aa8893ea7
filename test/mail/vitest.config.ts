import { defineConfig } from 'vitest/config';

/** Runs the mail doors with a real IMAP server, Debian's dovecot-imapd: `npm run test:mail`, as root. */
export default defineConfig({
  test: {
    include: ['test/mail/**/*.check.ts'],
    testTimeout: 300_000,
    hookTimeout: 60_000,
    // The servers of several files would share two processors.
    fileParallelism: false,
    reporters: ['default', './test/support/closing-line.ts'],
  },
});
