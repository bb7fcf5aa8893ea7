import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { receiveInputs } from '../../../../scripts/receive.ts';
import type { Db } from '../../../../src/store/engine/database.ts';
import { trimDoubtful } from '../../../../src/store/reports/aging/doubtful.ts';
import type { DocumentSender } from '../../../../src/store/reports/senders.ts';
import { aBareAccount, aDomain, aReport, receive } from '../../../support/builders.ts';
import { FeedClient } from '../../../support/feed-client.ts';
import { listMiscounts } from '../../../support/recount.ts';
import { aStore } from '../../../support/store.ts';

const FILE: DocumentSender = {};
const STRANGER: DocumentSender = { authenticated: '' };
const NEWCOMER: DocumentSender = { authenticated: 'newcomer.example' };
const BIG: DocumentSender = { authenticated: 'google.com' };
const [YESTERDAY, TODAY] = ['2026-03-14T12:00:00Z', '2026-03-15T12:00:00Z'];

async function aWorld() {
  const { db, reader } = await aStore();
  const accountId = await aBareAccount(db);
  const { id, name: domain } = await aDomain(db, accountId);
  const send = (reportIds: readonly string[], sender: DocumentSender, at = TODAY) =>
    receive(
      db,
      reportIds.map((reportId) => aReport({ domain, reportId })),
      at,
      sender,
    );
  const trim = (bounds: { reports: number; bytes: number }) =>
    db.write((tx) => trimDoubtful(tx, id, { now: TODAY, bounds }));
  return { db, domain, send, trim, client: new FeedClient(reader, accountId, 3) };
}

const listIds = async (db: Db) => {
  expect(await listMiscounts(db)).toEqual({});
  const rows = await db.selectFrom('report').select('report_id').orderBy('seq').execute();
  return rows.map(({ report_id }) => report_id);
};

test('of a day’s reports of no established reporter the newest stay, those of new reporters longest', async () => {
  const { db, send, trim } = await aWorld();
  await send(['a'], STRANGER, YESTERDAY);
  await send(['new'], NEWCOMER);
  await send(['b', 'c', 'd'], STRANGER);
  await send(['file', 'other file'], FILE);
  await send(['genuine'], BIG);
  await send(['e'], STRANGER);
  const kept = ['a', 'new', 'd', 'file', 'other file', 'genuine', 'e'];
  await trim({ reports: 3, bytes: 1e6 });
  expect(await listIds(db)).toEqual(kept);
  await trim({ reports: 3, bytes: 1e6 });
  expect(await listIds(db)).toEqual(kept);
});

test('they are bounded in bytes too', async () => {
  const { db, send, trim } = await aWorld();
  await send(['a', 'b', 'c'], STRANGER);
  await send(['file'], FILE);
  await trim({ reports: 10, bytes: 5_500 });
  expect(await listIds(db)).toEqual(['b', 'c', 'file']);
});

test('a client that follows the account drops them too: its copy had them for ever', async () => {
  const { db, send, trim, client } = await aWorld();
  await send(['a', 'b', 'c', 'd', 'e'], STRANGER);
  await send(['genuine'], BIG);
  await client.follow();
  await trim({ reports: 1, bytes: 1e6 });
  await send(['f'], STRANGER);
  await trim({ reports: 1, bytes: 1e6 });
  await client.follow();
  const copy = [...client.reports.keys()].toSorted();
  const rows = await db.selectFrom('report').select('id').orderBy('id').execute();
  expect(copy).toEqual(rows.map(({ id }) => id));
  expect(await listIds(db)).toEqual(['genuine', 'f']);
});

test('a stranger who sends much leaves 64 MiB of a day, and the domain’s own reports', async () => {
  const { db, send, domain } = await aWorld();
  await send(['genuine'], BIG);
  for (let i = 0; i < 70; i += 1) {
    const content = aReport({ domain, reportId: `r-${i}` });
    const bytes = Buffer.concat([Buffer.from('PK'), randomBytes(1024 * 1024)]);
    const documents = [{ member: [], content, ...STRANGER }];
    await receiveInputs(db, [{ name: `${i}`, bytes, documents }], TODAY);
  }
  const ids = await listIds(db);
  expect([ids.length, ids[0], ids[1], ids.at(-1)]).toEqual([64, 'genuine', 'r-7', 'r-69']);
});
