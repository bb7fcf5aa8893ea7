import { expect, test } from 'vitest';
import { openStore } from '../../src/store/engine/open.ts';
import { aProgram } from '../support/program.ts';

test('plumbline verify ends with 0 when every figure is right, and else with 1 and what is wrong', async () => {
  const { run, json, database } = aProgram();
  const { id } = await json('account', 'create', 'A');
  expect(await run(['verify'])).toMatchObject({ status: 0, stdout: 'Every figure is right.\n' });
  const store = await openStore(database);
  await store.db.write((tx) => tx.updateTable('account').set({ domains_total: 1 }).execute());
  await store.close();
  const { status, stdout } = await run(['verify', '--json']);
  const wrong = { table: 'account', of: id, at: null, figure: 'domains_total' };
  expect([status, JSON.parse(stdout)]).toEqual([1, [{ ...wrong, stored: 1, right: 0 }]]);
  const repaired = await run(['verify', '--repair', '--json']);
  expect([repaired.status, JSON.parse(repaired.stdout)]).toMatchObject([0, [{ mended: true }]]);
  expect(await run(['verify'])).toMatchObject({ status: 0 });
});
