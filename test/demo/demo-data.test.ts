import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { toNetworks } from '../../scripts/services/demo-networks.ts';
import { DEMO_NETWORKS } from '../../src/demo/demo-data.ts';
import { openSandbox } from '../../src/demo/sandbox.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { aBareAccount, aReport, receive } from '../support/builders.ts';
import { aDatabasePath } from '../support/store.ts';

test.each([
  ['an account', aBareAccount],
  ['reports of nobody', (db: Parameters<typeof receive>[0]) => receive(db, [aReport()])],
])(
  'the sandbox, whose key is published, is not put into a database that has %s',
  async (_, fill) => {
    const path = aDatabasePath();
    const store = await openStore(path);
    await fill(store.db);
    await expect(openSandbox(new Date(), path)).rejects.toMatchObject({ code: 'conflict' });
    expect(await store.db.selectFrom('api_key').selectAll().execute()).toEqual([]);
    await store.close();
  },
);
test('the networks of the demo are those that its script writes', () => {
  expect(readFileSync(DEMO_NETWORKS)).toEqual(toNetworks());
});
