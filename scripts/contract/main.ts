/**
 * `npm run check:released`: checks that nothing in the released contract breaks, and that the changelog names
 * every addition. `npm run release:contract`: releases the current contract. Both need oasdiff.
 */
import { copyFileSync, readFileSync } from 'node:fs';
import { listObstacles, listProblems } from './check.ts';

const contracts = {
  released: 'openapi/released/v1.yaml',
  current: 'openapi/v1.yaml',
  changelog: readFileSync('CHANGELOG.md', 'utf8'),
};
const isRelease = process.argv[2] === 'release';
const problems = isRelease ? listObstacles(contracts) : listProblems(contracts);
for (const problem of problems) process.stderr.write(`✗ ${problem}\n`);
if (problems.length > 0) process.exit(1);

if (isRelease) copyFileSync(contracts.current, contracts.released);
process.stdout.write(
  isRelease
    ? `${contracts.released} is now ${contracts.current}.\n`
    : 'No breaking change, and every addition is named.\n',
);
