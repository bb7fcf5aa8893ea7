import { describe, expect, test } from 'vitest';
import { insertAccount } from '../../src/store/accounts/accounts.ts';
import {
  deleteApiKey,
  findKeyHolder,
  insertApiKey,
  listApiKeys,
  updateApiKey,
} from '../../src/store/accounts/api-keys.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { updatePlan } from '../../src/store/leaving/plan-change.ts';
import { putBrake } from '../support/brake.ts';
import { aBareAccount, aKey, anAccount, NOW, UNKNOWN_ID } from '../support/builders.ts';
import { runTogether } from '../support/processes.ts';
import { aDatabase, aStore } from '../support/store.ts';

const TWENTY = Array.from({ length: 20 }, (_, i) => `key ${i}`);
const outcomesOf = (results: readonly PromiseSettledResult<unknown>[]) => ({
  made: results.filter(({ status }) => status === 'fulfilled').length,
  refused: results.filter((r) => r.status === 'rejected' && /at most 10/.test(`${r.reason}`))
    .length,
});

describe('insertApiKey', () => {
  test('returns the whole key once and stores only its prefix and hash', async () => {
    const { db } = await aStore();
    const accountId = await aBareAccount(db);
    const { key, prefix } = await insertApiKey(db, { accountId, name: ' nightly ', now: NOW });
    expect(prefix).toBe(key.slice(0, 13));
    const [row] = await db.selectFrom('api_key').selectAll().execute();
    expect(row).toMatchObject({ name: 'nightly', prefix, enabled: 1, last_used_at: null });
    expect(JSON.stringify(row)).not.toContain(key.slice(13));
    expect(JSON.stringify(await listApiKeys(db, accountId))).not.toContain(key.slice(13));
  });

  test('twenty at the same time leave exactly ten', async () => {
    const { db } = await aStore();
    const accountId = await aBareAccount(db);
    const results = await Promise.allSettled(TWENTY.map((name) => aKey(db, accountId, name)));
    expect(outcomesOf(results)).toEqual({ made: 10, refused: 10 });
    expect(await listApiKeys(db, accountId)).toHaveLength(10);
  });

  test('twenty at the same time, from four processes, leave exactly ten', async () => {
    const path = await aDatabase();
    const store = await openStore(path);
    const accountId = await aBareAccount(store.db);
    const printed = await runTogether(
      4,
      path,
      `import { insertApiKey } from 'src/store/accounts/api-keys.ts';
      import { openStore } from 'src/store/engine/open.ts';
      const { db } = await openStore(process.argv[1]);
      const now = '2026-03-15T04:12:09Z';
      const create = () => insertApiKey(db, { accountId: '${accountId}', name: 'x', now });
      const made = await Promise.allSettled([create(), create(), create(), create(), create()]);
      console.log(made.map((r) => (r.status === 'fulfilled' ? 'made' : r.reason.code)).join(' '));`,
    );
    const words = printed.join(' ').split(' ');
    expect(words.filter((word) => word === 'made')).toHaveLength(10);
    expect(words.filter((word) => word === 'limit_reached')).toHaveLength(10);
    expect(await listApiKeys(store.db, accountId)).toHaveLength(10);
    await store.close();
  });

  test('disabled keys count; deleted ones and those of other accounts do not', async () => {
    const { db } = await aStore();
    const [accountId, other] = [await aBareAccount(db), await aBareAccount(db)];
    const keys = [];
    for (let i = 0; i < 10; i++) keys.push(await aKey(db, accountId));
    const [first] = keys;
    await updateApiKey(db, first?.keyId ?? '', false);
    await expect(aKey(db, accountId)).rejects.toMatchObject({ code: 'limit_reached' });
    await aKey(db, other);
    await deleteApiKey(db, first?.keyId ?? '');
    await aKey(db, accountId);
    await expect(aKey(db, accountId)).rejects.toMatchObject({ code: 'limit_reached' });
  });

  test('not for an account that is not on Pro or does not exist', async () => {
    const { db } = await aStore();
    const free = await aBareAccount(db, 'free');
    await expect(aKey(db, free)).rejects.toMatchObject({ code: 'plan_required' });
    await expect(aKey(db, UNKNOWN_ID)).rejects.toMatchObject({ code: 'not_found' });
    expect(await listApiKeys(db, free)).toEqual([]);
  });

  test('not with an invalid name', async () => {
    const { db } = await aStore();
    const accountId = await aBareAccount(db);
    await expect(aKey(db, accountId, ' ')).rejects.toMatchObject({ code: 'validation_error' });
    expect(await listApiKeys(db, accountId)).toEqual([]);
  });

  test('two keys of one account may have the same name', async () => {
    const { db } = await aStore();
    const accountId = await aBareAccount(db);
    await aKey(db, accountId, 'same');
    await aKey(db, accountId, 'same');
    expect(await listApiKeys(db, accountId)).toHaveLength(2);
  });
});

describe('updateApiKey', () => {
  test('disables and enables a key, and returns its state', async () => {
    const { db } = await aStore();
    const { keyId } = await anAccount(db);
    expect((await updateApiKey(db, keyId, false)).enabled).toBe(false);
    expect((await updateApiKey(db, keyId, false)).enabled).toBe(false);
    expect((await updateApiKey(db, keyId, true)).enabled).toBe(true);
  });

  test('does not enable a key while the account is not on Pro, but disables it', async () => {
    const { db } = await aStore();
    const { id, keyId } = await anAccount(db);
    await updatePlan(db, id, 'free');
    await expect(updateApiKey(db, keyId, true)).rejects.toMatchObject({ code: 'plan_required' });
    expect((await updateApiKey(db, keyId, false)).enabled).toBe(false);
  });

  test('from several processes at the same time: each waits, none fails', async () => {
    const path = await aDatabase();
    const store = await openStore(path);
    const { keyId } = await anAccount(store.db);
    const printed = await runTogether(
      3,
      path,
      `import { updateApiKey } from 'src/store/accounts/api-keys.ts';
      import { openStore } from 'src/store/engine/open.ts';
      const { db } = await openStore(process.argv[1]);
      for (let i = 0; i < 60; i++) await updateApiKey(db, '${keyId}', i % 2 === 0);
      console.log('done');`,
    );
    expect(printed).toEqual(['done', 'done', 'done']);
    await store.close();
  });

  test('an unknown key', async () => {
    const { db } = await aStore();
    await expect(updateApiKey(db, UNKNOWN_ID, true)).rejects.toMatchObject({ code: 'not_found' });
    await expect(deleteApiKey(db, UNKNOWN_ID)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('updatePlan', () => {
  test('leaving Pro disables every key in the same transaction', async () => {
    const path = await aDatabase();
    const [store, onlooker] = [await openStore(path), await openStore(path)];
    const { id } = await anAccount(store.db);
    for (let i = 0; i < 9; i++) await aKey(store.db, id);
    const seen = new Set<string>();
    let isDone = false;
    const look = async () => {
      while (!isDone) {
        const rows = await onlooker.db
          .selectFrom('account')
          .innerJoin('api_key', 'api_key.account_id', 'account.id')
          .select(['plan', 'enabled'])
          .execute();
        seen.add([...new Set(rows.map(({ plan, enabled }) => `${plan} ${enabled}`))].join());
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const looking = look();
    await updatePlan(store.db, id, 'free');
    await updatePlan(store.db, id, 'pro');
    isDone = true;
    await looking;
    expect(seen).toSatisfy((states: Set<string>) =>
      states.isSubsetOf(new Set(['pro 1', 'free 0', 'pro 0'])),
    );
    await store.close();
    await onlooker.close();
  });

  test('a downgrade that fails leaves plan and keys unchanged', async () => {
    const { db } = await aStore();
    const { id, keyId } = await anAccount(db);
    const release = await putBrake(db, { table: 'api_key', at: 'update of enabled' });
    await expect(updatePlan(db, id, 'free')).rejects.toThrow('brake');
    const account = await db.selectFrom('account').select('plan').executeTakeFirstOrThrow();
    expect(account.plan).toBe('pro');
    const [key] = await listApiKeys(db, id);
    expect([key?.id, key?.enabled]).toEqual([keyId, true]);
    await release();
  });

  test('of an unknown account: not found', async () => {
    const { db } = await aStore();
    await expect(updatePlan(db, UNKNOWN_ID, 'pro')).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('findKeyHolder', () => {
  test('finds by hash, and only enabled keys of accounts on Pro', async () => {
    const { db, reader } = await aStore();
    const { id, keyId } = await anAccount(db);
    const { sha256 } = await db.selectFrom('api_key').select('sha256').executeTakeFirstOrThrow();
    const holder = { keyId, accountId: id, lastUsedAt: null, expiresAt: null };
    expect(await findKeyHolder(reader, sha256)).toEqual(holder);
    await updateApiKey(db, keyId, false);
    expect(await findKeyHolder(reader, sha256)).toBeUndefined();
  });

  test('an account’s keys are listed in order of creation', async () => {
    const { db } = await aStore();
    const { id } = await insertAccount(db, { name: 'x', plan: 'pro', now: NOW });
    const times = ['2026-03-15T00:00:00Z', '2026-03-14T00:00:00Z', '2026-03-16T00:00:00Z'];
    for (const now of times) await insertApiKey(db, { accountId: id, name: now, now });
    const names = (await listApiKeys(db, id)).map(({ name }) => name);
    expect(names).toEqual(times.toSorted());
  });
});
