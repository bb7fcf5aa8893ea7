/**
 * `npm run check:released`: nothing of the released contract breaks unseen, and whatever is new is named in
 * the changelog. `npm run release:contract`: the contract of today becomes the released one. Both need oasdiff.
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
    : 'Nothing breaks, all is named.\n',
);
