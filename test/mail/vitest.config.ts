import { defineConfig } from 'vitest/config';
import { EVERY_SUITE } from '../support/every-suite.ts';

/** Runs the mail doors with real servers, Debian's dovecot-imapd and postfix: `npm run test:mail`, as root. */
export default defineConfig({
  test: {
    ...EVERY_SUITE,
    include: ['test/mail/**/*.check.ts'],
    // One file takes as long as all others, and the others wait most of the time.
    maxWorkers: 2,
  },
});
