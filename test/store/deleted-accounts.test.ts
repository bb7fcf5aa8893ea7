import { describe, expect, test } from 'vitest';
import { removeDomain } from '../../src/store/domains/removed-domains.ts';
import type { Db } from '../../src/store/engine/database.ts';
import { operator } from '../../src/store/events/audit.ts';
import { countBelongings, deleteAccount } from '../../src/store/leaving/deleted-accounts.ts';
import { NOW } from '../support/builders.ts';
import { failingDb } from '../support/failing-db.ts';
import { aFullAccount, listTables, OF_NOBODY, readAll } from '../support/full-account.ts';
import { listMiscounts } from '../support/recount.ts';
import { aStore } from '../support/store.ts';

const removal = { by: operator(NOW), keepsReports: false };

describe('a deleted account', () => {
  test('leaves nothing in any table, and others have what they had', async () => {
    const { db } = await aStore();
    await aFullAccount(db);
    const before = await readAll(db);
    const accountId = await aFullAccount(db);
    const filled = await readAll(db);
    for (const table of await listTables(db))
      if (!OF_NOBODY.has(table))
        expect(filled[table]?.length, `rows of an account in ${table}`).toBeGreaterThan(
          before[table]?.length ?? 0,
        );
    const counts = { domains: 2, reports: 25, tls_reports: 1, keys: 1, people: 1, webhooks: 1 };
    expect(await countBelongings(db, accountId)).toEqual({ account: 'Example', ...counts });

    await deleteAccount(db, accountId, removal);

    expect(await readAll(db)).toEqual(before);
    await expect(countBelongings(db, accountId)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('is gone to the end when it is deleted again after a kill, wherever that was', async () => {
    const { db } = await aStore();
    const before = await readAll(db);
    const whole = failingDb(db, Number.POSITIVE_INFINITY);
    await deleteAccount(whole.db, await aFullAccount(db), removal);
    const KILLS = 12;
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const accountId = await aFullAccount(db);
      const after = Math.floor((whole.count.steps * kill) / (KILLS + 1));
      const killed = deleteAccount(failingDb(db, after).db, accountId, removal);
      await expect(killed).rejects.toThrow('broken');
      await deleteAccount(db, accountId, removal);
      expect(await readAll(db), `killed after ${after} steps`).toEqual(before);
    }
  });

  test('lets nobody in from the first transaction on', async () => {
    const { db } = await aStore();
    const accountId = await aFullAccount(db);
    let writes = 0;
    const write: Db['write'] = (change) =>
      ++writes > 1 ? Promise.reject(new Error('Killed.')) : db.write(change);
    await expect(deleteAccount({ ...db, write }, accountId, removal)).rejects.toThrow('Killed.');
    for (const table of [
      'api_key',
      'session',
      'pending_sign_in',
      'one_time_link',
      'receiver',
    ] as const)
      expect(await db.selectFrom(table).selectAll().execute(), table).toEqual([]);
    expect(await countBelongings(db, accountId)).toMatchObject({ reports: 25, keys: 0 });
  });

  test('may leave its reports, unclaimed', async () => {
    const { db } = await aStore();
    const accountId = await aFullAccount(db);
    await deleteAccount(db, accountId, { ...removal, keepsReports: true });
    const domains = await db
      .selectFrom('domain')
      .select(['account_id', 'reports_total'])
      .orderBy('reports_total')
      .execute();
    expect(domains).toEqual([
      { account_id: null, reports_total: 0 },
      { account_id: null, reports_total: 25 },
    ]);
    expect(await db.selectFrom('report').select('id').execute()).toHaveLength(26);
    for (const table of ['account', 'alert', 'audit', 'event', 'inbox_mail'] as const)
      expect(await db.selectFrom(table).selectAll().execute(), table).toEqual([]);
  });
});

test('a domain that is removed with its reports leaves nothing of itself but in the audit', async () => {
  const { db } = await aStore();
  const accountId = await aFullAccount(db);
  const others = await aFullAccount(db);
  const [own] = await db
    .selectFrom('domain')
    .select(['id', 'seq'])
    .where('account_id', '=', accountId)
    .where('reports_total', '=', 25)
    .execute();
  await removeDomain(db, own?.id ?? '', { by: operator(NOW), deletesReports: true });
  for (const table of ['report', 'conflict'] as const) {
    const left = db
      .selectFrom(table)
      .selectAll()
      .where('domain_seq', '=', own?.seq ?? 0);
    expect(await left.execute(), table).toEqual([]);
  }
  const days = db
    .selectFrom('domain_day')
    .select('day')
    .where('domain_id', '=', own?.id ?? '');
  expect(await days.execute()).toEqual([]);
  expect(await countBelongings(db, accountId)).toMatchObject({ domains: 1, reports: 0, keys: 1 });
  expect(await countBelongings(db, others)).toMatchObject({ domains: 2, reports: 25 });
  expect(await listMiscounts(db)).toEqual({});
  const actions = await db
    .selectFrom('audit')
    .select('action')
    .where('account_id', '=', accountId)
    .orderBy('seq', 'desc')
    .limit(2)
    .execute();
  expect(actions.map(({ action }) => action)).toEqual(['domain_removed', 'domain_paused']);
});
