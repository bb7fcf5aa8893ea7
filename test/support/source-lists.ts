import { expect } from 'vitest';
import type { DayRange } from '../../src/domain/instant.ts';
import type { Db } from '../../src/store/engine/database.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { readSources, readSourcesForGroups, type SourceRow } from '../../src/store/sources/list.ts';
import { sumPeriod } from '../../src/store/sources/sums.ts';

/** Everything is worth sums. */
const ALL = { minRows: 0, maxRows: 10_000, minRowsOfAddress: 0 };

/** Sums those of the stale periods whose numbers are chosen, in any order. */
export async function sumSome(store: Store, isChosen: (i: number) => boolean): Promise<void> {
  const stale = store.db.selectFrom('source_period').where('state', '=', 'stale');
  const rows = await stale.select(['domain_id', 'period']).orderBy('period', 'desc').execute();
  for (const { domain_id: domainId, period } of rows.filter((_, i) => isChosen(i)))
    await sumPeriod(store, { domainId, period }, ALL);
}

/** Fails when a list of sources is not what the days of its range add up to. */
export async function holdLists(store: Store, range: DayRange): Promise<void> {
  const domains = await store.db.selectFrom('domain').select(['id', 'account_id']).execute();
  for (const { id: domainId, account_id: accountId } of domains) {
    if (accountId === null) continue;
    const right = await addUp(store.db, domainId, range);
    for (const failingOnly of [false, true]) {
      const wanted = { range, failingOnly, limit: 1_000, offset: 0 };
      const { sources, total, unlisted } = await readSources(
        store.reader,
        { accountId, domainId },
        wanted,
      );
      const rows = right.rows.filter((row) => !failingOnly || row.messages > row.aligned);
      expect({ sources, total, unlisted }, JSON.stringify(range)).toEqual({
        sources: rows,
        total: rows.length,
        unlisted: right.unlisted,
      });
      const groups = await readSourcesForGroups(store.reader, { accountId, domainId }, wanted);
      const counts = rows.map(({ first_day, last_day, ...row }) => row);
      expect([groups.sources, groups.unlisted]).toEqual([counts, right.unlisted]);
    }
  }
}

async function addUp(db: Db, domainId: string, { from, to }: DayRange) {
  const ofRange = <T extends 'domain_source_ip' | 'domain_day'>(table: T) =>
    db
      .selectFrom(table as 'domain_source_ip')
      .where('domain_id', '=', domainId)
      .where('day', '>=', from)
      .where('day', '<=', to);
  const found = new Map<string, SourceRow>();
  for (const row of await ofRange('domain_source_ip').selectAll().orderBy('day').execute()) {
    const before = found.get(row.address);
    const add = (column: 'messages' | 'aligned' | 'dkim_aligned' | 'spf_aligned') =>
      Math.min(Number.MAX_SAFE_INTEGER, (before?.[column] ?? 0) + Number(row[column]));
    found.set(row.address, {
      address: row.address,
      messages: add('messages'),
      aligned: add('aligned'),
      dkim_aligned: add('dkim_aligned'),
      spf_aligned: add('spf_aligned'),
      first_day: before?.first_day ?? row.day,
      last_day: row.day,
    });
  }
  const rows = [...found.values()].sort(
    (a, b) =>
      b.messages - b.aligned - (a.messages - a.aligned) ||
      b.messages - a.messages ||
      (a.address < b.address ? -1 : 1),
  );
  const days = await ofRange('domain_day').select('messages').execute();
  const sum = (all: readonly { readonly messages: number }[]) =>
    all.reduce((total, { messages }) => total + Number(messages), 0);
  return { rows, unlisted: Math.max(0, sum(days) - sum(rows)) };
}
