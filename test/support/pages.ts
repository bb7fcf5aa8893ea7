import { expect } from 'vitest';
import type { Store } from '../../src/store/connection/open.ts';
import { listReports } from '../../src/store/reports/reports.ts';

/** Every page equals the same slice of the whole list. */
export async function holdPages({ db, reader }: Store): Promise<void> {
  const domains = await db.selectFrom('domain').select(['id', 'account_id']).execute();
  for (const { id: domainId, account_id: accountId } of domains) {
    if (accountId === null) continue;
    const idsOf = async (limit: number, offset: number): Promise<string[]> => {
      const { rows } = await listReports(reader, { domainId, accountId }, { limit, offset });
      return rows.map(({ id }) => id);
    };
    const whole = await idsOf(1_000, 0);
    for (let offset = 1; offset <= whole.length + 1; offset += 2) {
      expect(await idsOf(3, offset)).toEqual(whole.slice(offset, offset + 3));
    }
  }
}
