import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { listObstacles } from '../../scripts/contract/check.ts';
import { aFolder } from '../support/command.ts';
import * as v1 from './plant.ts';

const RELEASED = 'openapi/released/v1.yaml';
const NEXT = '9.0.0';

/** What keeps the released contract, changed, from being released as `version`. */
async function release(version: string, plants: readonly v1.Plant[], api: string | undefined) {
  const tree = parse(readFileSync(RELEASED, 'utf8'));
  tree.info.version = version;
  for (const plant of plants) plant(tree);
  const current = join(await aFolder(), 'v1.json');
  writeFileSync(current, JSON.stringify(tree));
  const part = api === undefined ? '' : `### API\n\n${api}\n`;
  const changelog = `## Unreleased\n\n### API\n\n- \`reporter\`\n\n## ${version} (2027-01-01)\n\n${part}`;
  return listObstacles({ released: RELEASED, current, changelog });
}

const ADDED = [v1.addParameter('reports', 'reporter')];

test('a version that names what is new is released', async () => {
  expect(await release(NEXT, ADDED, '- `reporter`')).toEqual([]);
});

test('a version that the changelog does not have is not', async () => {
  const obstacles = [`CHANGELOG.md has no part "### API" under "## ${NEXT}"`];
  expect(await release(NEXT, ADDED, undefined)).toEqual(obstacles);
});

test('what is named under another version is not named', async () => {
  const obstacles = [`is new, and not named in CHANGELOG.md, ${NEXT}, API: \`reporter\``];
  expect(await release(NEXT, ADDED, '- Nothing.')).toEqual(obstacles);
});

test('a version that is released stays as it is', async () => {
  const { version } = parse(readFileSync(RELEASED, 'utf8')).info;
  expect(await release(version, ADDED, '- `reporter`')).toEqual([
    `${version} is released, and was different`,
  ]);
});

test('a break is not released, whatever its version', async () => {
  const plants = [v1.set(v1.operation('alerts'), { operationId: 'getAlerts' })];
  expect(await release(NEXT, plants, '- `getAlerts`')).toEqual([
    expect.stringMatching(/^breaks the released contract: .*listAlerts/),
  ]);
});

test('the first contract is released as it stands', () => {
  const { version } = parse(readFileSync(RELEASED, 'utf8')).info;
  const changelog = `## ${version}\n\n### API\n\n- All.\n`;
  const contracts = { released: 'openapi/released/none.yaml', current: RELEASED, changelog };
  expect(listObstacles(contracts)).toEqual([]);
});
