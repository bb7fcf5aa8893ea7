/**
 * `npm run bench:alerts`: replays a year with planted incidents hour by hour and prints which alerts of each
 * type were right; then prints the cost of one evaluation with three years of history, and what receivers add to
 * an alert's transaction: `-- firing` runs that alone.
 */
import { benchCost } from './cost.ts';
import { benchFiring } from './firing.ts';
import { benchReplay } from './replay.ts';

if (process.argv[2] !== 'firing') {
  await benchReplay();
  await benchCost();
}
await benchFiring();
