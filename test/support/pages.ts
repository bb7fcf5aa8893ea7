import { expect } from 'vitest';
import { IS_DMARC } from '../../src/store/days/believed.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { type PagedList, parseItems, readPage } from '../../src/store/lists/page.ts';
import { reportsOf, reportsOfAccount } from '../../src/store/reports/reports.ts';

/** Every page of every list of reports equals the same slice of the whole list. An account's has those of its active domains. */
export async function holdPages({ db, reader }: Store): Promise<void> {
  const idsOf = async (list: PagedList<{ readonly id: string }>, limit: number, offset: number) =>
    parseItems(await readPage(reader, list, { limit, offset })).map(({ id }) => id);
  const holdList = async (list: PagedList<{ readonly id: string }>, whole: readonly string[]) => {
    expect(await idsOf(list, 1_000, 0)).toEqual(whole);
    for (let offset = 1; offset <= whole.length + 1; offset += 2)
      expect(await idsOf(list, 3, offset)).toEqual(whole.slice(offset, offset + 3));
  };
  const reports = db
    .selectFrom('report')
    .innerJoin('domain', 'domain.seq', 'report.domain_seq')
    .select('report.id')
    .where(IS_DMARC)
    .orderBy('begin_date', 'desc')
    .orderBy('report.seq', 'desc');
  const domains = await db.selectFrom('domain').select(['id', 'account_id']).execute();
  for (const { id: domainId, account_id: accountId } of domains) {
    if (accountId === null) continue;
    const rows = await reports.where('domain.id', '=', domainId).execute();
    await holdList(
      reportsOf({ domainId, accountId }),
      rows.map(({ id }) => id),
    );
  }
  for (const { id } of await db.selectFrom('account').select('id').execute()) {
    const active = reports.where('account_id', '=', id).where('status', '=', 'active');
    const rows = await active.execute();
    await holdList(
      reportsOfAccount(id),
      rows.map(({ id }) => id),
    );
  }
}
