import { expect } from 'vitest';
import type { Store } from '../../src/store/engine/store.ts';
import { parseItems, readPage } from '../../src/store/lists/page.ts';
import { reportsOf } from '../../src/store/reports/reports.ts';

/** Every page equals the same slice of the whole list. */
export async function holdPages({ db, reader }: Store): Promise<void> {
  const domains = await db.selectFrom('domain').select(['id', 'account_id']).execute();
  for (const { id: domainId, account_id: accountId } of domains) {
    if (accountId === null) continue;
    const idsOf = async (limit: number, offset: number): Promise<string[]> => {
      const page = await readPage(reader, reportsOf({ domainId, accountId }), { limit, offset });
      return parseItems(page).map(({ id }) => id);
    };
    const whole = await idsOf(1_000, 0);
    for (let offset = 1; offset <= whole.length + 1; offset += 2) {
      expect(await idsOf(3, offset)).toEqual(whole.slice(offset, offset + 3));
    }
  }
}
