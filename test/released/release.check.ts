import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { listObstacles } from '../../scripts/contract/check.ts';
import { aFolder } from '../support/command.ts';
import * as v1 from './plant.ts';

const RELEASED = 'openapi/released/v1.yaml';
const NEXT = '9.0.0';

/** The reasons against releasing the changed contract as `version`. */
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

test('a version whose changelog names every addition is released', async () => {
  expect(await release(NEXT, ADDED, '- `reporter`')).toEqual([]);
});

test('a version without an entry in the changelog is not released', async () => {
  const obstacles = [`CHANGELOG.md has no part "### API" under "## ${NEXT}"`];
  expect(await release(NEXT, ADDED, undefined)).toEqual(obstacles);
});

test('a name under another version does not count', async () => {
  const obstacles = [`is new, and not named in CHANGELOG.md, ${NEXT}, API: \`reporter\``];
  expect(await release(NEXT, ADDED, '- Nothing.')).toEqual(obstacles);
});

test('a released version cannot be changed', async () => {
  const { version } = parse(readFileSync(RELEASED, 'utf8')).info;
  expect(await release(version, ADDED, '- `reporter`')).toEqual([
    `${version} is released, and was different`,
  ]);
});

test('a breaking change is not released, whatever its version', async () => {
  const plants = [v1.set(v1.operation('alerts'), { operationId: 'getAlerts' })];
  expect(await release(NEXT, plants, '- `getAlerts`')).toEqual([
    expect.stringMatching(/^breaks the released contract: .*listAlerts/),
  ]);
});

test('the first contract is released as it is', () => {
  const { version } = parse(readFileSync(RELEASED, 'utf8')).info;
  const changelog = `## ${version}\n\n### API\n\n- All.\n`;
  const contracts = { released: 'openapi/released/none.yaml', current: RELEASED, changelog };
  expect(listObstacles(contracts)).toEqual([]);
});
