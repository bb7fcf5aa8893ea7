import type { Instant } from '../../domain/instant.ts';
import type { Tx } from '../engine/database.ts';
import { type Param, prepareQuery, runAllPrepared } from '../engine/prepared.ts';
import { changeInserts, toRow } from '../lists/changes.ts';
import { newVersion } from '../lists/heads.ts';
import {
  accountReportList,
  type CountedItem,
  countItems,
  itemUpserts,
  toItemsOfDays,
} from '../lists/timeline.ts';
import type { Tables } from '../tables.ts';

/*
 * The list of the reports of an account's active domains: those that have the account's number. What comes to it takes the
 * next numbers of the account's changes.
 */

type Listed = Pick<Tables['report'], 'begin_date' | 'reporter' | 'reporter_host'>;

interface Arrived {
  readonly accountId: string;
  readonly reports: readonly Listed[];
  /** Whether the account's list of domains shows a change as well; and the one that has paused domains, too. */
  readonly isDomainChanged?: boolean;
  readonly isAnyChanged?: boolean;
}

interface Place {
  readonly account_seq: number;
  readonly number: number;
}

/** Counts reports that come to lists, and returns the columns that put each there. Locks the accounts, by id. */
export async function addToLists(
  tx: Tx,
  arrived: readonly Arrived[],
  { nonce, at }: { readonly nonce: string; readonly at: Instant },
): Promise<Map<Listed, Place>> {
  const ordered = arrived.toSorted((a, b) => (a.accountId < b.accountId ? -1 : 1));
  const updates = ordered.map(({ accountId, reports, ...changed }) => {
    const domainsVersion = changed.isDomainChanged ? newVersion() : null;
    const allVersion = changed.isAnyChanged ? newVersion() : null;
    const isListed = reports.length > 0;
    const list = isListed ? { version: newVersion(), nonce } : { version: null, nonce: null };
    return headUpdate({ accountId, reports: reports.length, ...list, domainsVersion, allVersion });
  });
  const taken = (await runAllPrepared(tx, updates)).flat();
  const items = ordered.flatMap(({ accountId, reports }) =>
    toItemsOfDays(accountReportList(accountId), toItems(reports)),
  );
  const changes = taken
    .filter((_, i) => ordered[i]?.reports.length)
    .map(({ seq, number }) => toRow({ at }, { accountSeq: seq, number, nonce }));
  await runAllPrepared(tx, [...itemUpserts(items), ...changeInserts(changes)]);
  return new Map(
    ordered.flatMap(({ reports }, i) => {
      const { seq: account_seq = 0, number: last = 0 } = taken[i] ?? {};
      const before = last - reports.length;
      return reports.map((report, n) => [report, { account_seq, number: before + n + 1 }]);
    }),
  );
}

type NewHead = {
  readonly accountId: string;
  readonly reports: number;
  /** null where nothing is new. */
  readonly nonce: string | null;
  readonly version: string | null;
  readonly domainsVersion: string | null;
  readonly allVersion: string | null;
};

const headUpdate = prepareQuery((db, param: Param<NewHead>) =>
  db
    .updateTable('account')
    .set((eb) => ({
      reports_total: eb('reports_total', '+', param('reports')),
      reports_version: eb.fn.coalesce(param('version'), 'reports_version'),
      all_domains_version: eb.fn.coalesce(param('allVersion'), 'all_domains_version'),
      domains_version: eb.fn.coalesce(param('domainsVersion'), 'domains_version'),
      changes: eb('changes', '+', param('reports')),
      changes_nonce: eb.fn.coalesce(param('nonce'), 'changes_nonce'),
    }))
    .where('id', '=', param('accountId'))
    .returning(['seq', 'changes as number']),
);

/** Counts reports that leave the lists that they are in, if any. */
export async function takeFromLists(
  tx: Tx,
  reports: readonly (Listed & Pick<Tables['report'], 'account_seq'>)[],
): Promise<void> {
  for (const [seq, some] of Map.groupBy(reports, ({ account_seq }) => account_seq)) {
    if (seq === null) continue;
    const account = await tx
      .updateTable('account')
      .set((eb) => ({
        reports_total: eb('reports_total', '-', some.length),
        reports_version: newVersion(),
      }))
      .where('seq', '=', seq)
      .returning('id')
      .executeTakeFirst();
    // The account was deleted meanwhile, and its list with it.
    if (account === undefined) continue;
    await countItems(tx, accountReportList(account.id), { items: toItems(some), by: -1 });
  }
}

/** Each is in the list's parts of its reporter's names. */
const toItems = (reports: readonly Listed[]): CountedItem[] =>
  reports.map(({ begin_date: at, reporter, reporter_host }) => {
    return { at, parts: [reporter, reporter_host].filter((key) => key !== null) };
  });
