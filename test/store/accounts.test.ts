import { expect, test } from 'vitest';
import { insertAccount, listAccounts } from '../../src/store/accounts/accounts.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { aDatabase } from '../support/store.ts';

test('of two accounts that get one name at the same time, one is refused', async () => {
  const path = await aDatabase();
  const stores = [await openStore(path), await openStore(path)];
  const given = { plan: 'pro', now: '2026-03-15T00:00:00Z' } as const;
  const results = await Promise.allSettled(
    stores.map(({ db }, i) => insertAccount(db, { ...given, name: ['ÄPFEL', 'Äpfel'][i] ?? '' })),
  );
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(results.find((result) => result.status === 'rejected')?.reason).toMatchObject({
    code: 'conflict',
  });
  for (const { db, close } of stores) {
    expect(await listAccounts(db)).toHaveLength(1);
    await close();
  }
});
