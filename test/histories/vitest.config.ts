import { defineConfig } from 'vitest/config';
import { EVERY_SUITE } from '../support/every-suite.ts';

/** Random histories that `npm test` leaves out because of the time they take. */
export const RANDOM = [
  'test/alerts/any-order.test.ts',
  'test/external/{followers,fuzz}.test.ts',
  'test/store/histories.test.ts',
];

/** These, and all cases of those of which `npm test` tries few: `npm run test:histories`, a step of `.ci/run`. */
export default defineConfig({
  test: {
    ...EVERY_SUITE,
    include: [
      ...RANDOM,
      'test/external/{computed-tags,declared-lists,filters}.test.ts',
      'test/judging/{judged-once,kept-sums}.test.ts',
      'test/store/heads.test.ts',
    ],
    maxWorkers: '100%',
    isolate: false,
  },
});
