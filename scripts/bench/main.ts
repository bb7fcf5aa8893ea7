/**
 * `npm run bench`: every figure stands beside a baseline that was measured in the same run, for times on a
 * shared machine are noise and ratios are not. `npm run bench -- api` or `-- intake` runs one part.
 */
import { benchApi } from './api.ts';
import { benchIntake } from './intake.ts';

const SIZES = [1_000, 100_000, 1_000_000];

const [part = 'all'] = process.argv.slice(2);
if (part !== 'intake') await benchApi(SIZES);
if (part !== 'api') await benchIntake();
