import { expect, onTestFinished, test } from 'vitest';
import { sumRange } from '../../src/judging/summed-range.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { readFeed } from '../../src/store/feed/feed.ts';
import { findHead, type PagedList, readCurrentPage } from '../../src/store/lists/page.ts';
import { reportsOf, reportsOfAccount } from '../../src/store/reports/reports.ts';
import { aBareAccount, aDomain, aReport, receive } from '../support/builders.ts';
import { makeCitus } from '../support/citus-databases.ts';
import { runOn } from '../support/postgres.ts';

const RANGE = { from: '2026-03-01', to: '2026-03-31' };

/** A change that is committed on the coordinator, and on no worker yet. */
async function changeOnCoordinator(url: string): Promise<void> {
  const set = "reports_version = 'another'";
  const change = `${set}, changes_nonce = 'another', changes = changes + 1`;
  for (const [table, values] of Object.entries({ domain: set, account: change })) {
    const shard = `select shard_name as name from citus_shards where table_name = '${table}'::regclass`;
    const [{ name }] = (await runOn(url, shard)) as [{ name: string }];
    await runOn(url, `update ${name} set ${values}`);
  }
}

test('while no worker has a change yet, what it is read with says so, and a domain’s page is whole', async () => {
  const url = await makeCitus(`one_state_${process.pid}`);
  const { db, reader, close } = await openStore(url);
  onTestFinished(close);
  const accountId = await aBareAccount(db);
  const { id: domainId, name } = await aDomain(db, accountId);
  await receive(db, [aReport({ domain: name })]);
  const feed = () => readFeed(reader, { accountId, start: 'start', limit: 10 });
  const read = async (list: PagedList<unknown>) => {
    const head = await findHead(reader, list);
    const page = { limit: 10, offset: 0 };
    return head && (await readCurrentPage(reader, list, { page, head }));
  };
  const ofDomain = await read(reportsOf({ accountId, domainId }));
  expect(ofDomain?.items).toHaveLength(1);
  expect((await read(reportsOfAccount(accountId)))?.items).toHaveLength(1);
  expect((await feed())?.items).toHaveLength(2);
  const sum = () => sumRange(reader, { domainId, range: RANGE, today: RANGE.to });
  expect((await sum()).summed.messages).toBeGreaterThan(0);

  await changeOnCoordinator(url);
  await expect(feed()).rejects.toMatchObject({ code: 'unavailable' });
  const ofAccount = read(reportsOfAccount(accountId));
  await expect(ofAccount).rejects.toMatchObject({ code: 'unavailable' });
  await expect(sum()).rejects.toMatchObject({ code: 'unavailable' });
  expect(await read(reportsOf({ accountId, domainId }))).toEqual(ofDomain);
});
