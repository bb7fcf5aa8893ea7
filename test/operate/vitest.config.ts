import { defineConfig } from 'vitest/config';
import { EVERY_SUITE } from '../support/every-suite.ts';

/** Tries the files of docs/operate with the programs that read them: `npm run test:operate`. */
export default defineConfig({
  test: {
    ...EVERY_SUITE,
    include: ['test/operate/*.check.ts'],
  },
});
