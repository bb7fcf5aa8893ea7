import { defineConfig } from 'vitest/config';
import { EVERY_SUITE } from '../support/every-suite.ts';

/** Every sample in the docs: `npm run test:samples`. It needs bash, curl and python3. */
export default defineConfig({
  test: {
    ...EVERY_SUITE,
    include: ['test/docs/*.walk.ts'],
  },
});
