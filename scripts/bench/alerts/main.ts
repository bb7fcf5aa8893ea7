/**
 * `npm run bench:alerts`: a year with planted incidents, replayed hour by hour as it would have happened, and
 * which alerts of each type were right; then what one evaluation costs beside three years of history.
 */
import { benchCost } from './cost.ts';
import { benchReplay } from './replay.ts';

await benchReplay();
await benchCost();
