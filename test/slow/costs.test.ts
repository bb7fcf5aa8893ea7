import { fork } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { HOSTILE } from '../../scripts/hostile/all.ts';
import { type Cost, isTooMuch, MAX_MAIL_MS } from '../support/cost-process.ts';

const PROCESS = new URL('../support/cost-process.ts', import.meta.url);

/** What each input of a kind cost, in CPU of the process that read it. */
async function measure(kind: string): Promise<Cost[]> {
  const costs: Cost[] = [];
  const child = fork(PROCESS, [kind], { execArgv: ['--disable-warning=ExperimentalWarning'] });
  child.on('message', (cost) => costs.push(cost as Cost));
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
  return costs;
}

test.each(Object.entries(HOSTILE))(
  'no hostile input (%s) costs more CPU than one and a half times what its budget counted',
  async (kind, all) => {
    const costs = await measure(kind);
    expect(costs).toHaveLength(all.length);
    expect(costs.filter((cost) => isTooMuch(cost))).toEqual([]);
  },
  1_200_000,
);

test('no mail of these kinds, in other sizes and orders, costs more than 3 s of CPU to read', async () => {
  const costs = await measure('generated');
  expect(costs).toHaveLength(40);
  expect(costs.filter((cost) => isTooMuch(cost, MAX_MAIL_MS))).toEqual([]);
}, 1_200_000);
