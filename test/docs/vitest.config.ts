import { defineConfig } from 'vitest/config';

/** Every sample in the docs: `npm run test:samples`. It needs bash, curl and python3. */
export default defineConfig({
  test: {
    include: ['test/docs/*.walk.ts'],
    reporters: ['default', './test/support/closing-line.ts'],
  },
});
