/**
 * `npm run bench:alerts`: replays a year with planted incidents hour by hour and prints which alerts of each
 * type were right; then prints the cost of one evaluation with three years of history.
 */
import { benchCost } from './cost.ts';
import { benchReplay } from './replay.ts';

await benchReplay();
await benchCost();
