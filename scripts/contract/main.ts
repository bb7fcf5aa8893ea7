/**
 * `npm run check:released`: checks that nothing in the released contract breaks, and that the changelog names
 * every addition. `main.ts release <version>`, of `npm run release`: releases the current contract, and keeps the schema of
 * the database, with some rows, under the version of the package. Both need oasdiff, the second one only when the contract has changed.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { listObstacles, listProblems } from './check.ts';
import { listRows } from './rows.ts';
import { listSchemaFiles, SCHEMAS, toFile } from './schema.ts';

const contracts = {
  released: 'openapi/released/v1.yaml',
  current: 'openapi/v1.yaml',
  changelog: readFileSync('CHANGELOG.md', 'utf8'),
};
const isRelease = process.argv[2] === 'release';
const schemas = isRelease ? await listSchemaFiles(String(process.argv[3])) : [];
const changed = schemas
  .filter(([path, text]) => existsSync(path) && readFileSync(path, 'utf8') !== text)
  .map(([path]) => `${path} is the schema of a released version, and was different`);
const problems = isRelease ? [...listObstacles(contracts), ...changed] : listProblems(contracts);
for (const problem of problems) process.stderr.write(`✗ ${problem}\n`);
if (problems.length > 0) process.exit(1);

if (isRelease) {
  copyFileSync(contracts.current, contracts.released);
  mkdirSync(SCHEMAS, { recursive: true });
  for (const [path, text] of schemas) writeFileSync(path, text);
  const rows = `${SCHEMAS}/${process.argv[3]}-rows.sql`;
  if (!existsSync(rows)) writeFileSync(rows, toFile(await listRows()));
}
process.stdout.write(
  isRelease
    ? `${contracts.released} is now ${contracts.current}.\n`
    : 'No breaking change, and every addition is named.\n',
);
