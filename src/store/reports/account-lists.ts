import type { Instant } from '../../domain/instant.ts';
import type { Tx } from '../engine/database.ts';
import { type Param, prepareQuery, runAllPrepared } from '../engine/prepared.ts';
import { changeInserts, toRow } from '../lists/changes.ts';
import { newVersion } from '../lists/heads.ts';
import { accountReportList, countItems, itemUpserts, toItemsOfDays } from '../lists/timeline.ts';
import type { Tables } from '../tables.ts';

/*
 * The list of the reports of an account's active domains: those that have the account's number. What comes to it takes the
 * next numbers of the account's changes.
 */

type Listed = Pick<Tables['report'], 'begin_date'>;

interface Arrived {
  readonly accountId: string;
  readonly reports: readonly Listed[];
  /** Whether the account's list of domains shows a change as well. */
  readonly isDomainChanged?: boolean;
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
  const updates = ordered.map(({ accountId, reports, isDomainChanged = false }) => {
    const domainsVersion = isDomainChanged ? newVersion() : null;
    const head = { reports: reports.length, version: newVersion(), domainsVersion };
    return headUpdate({ accountId, nonce, ...head });
  });
  const taken = (await runAllPrepared(tx, updates)).flat();
  const items = ordered.flatMap(({ accountId, reports }) =>
    toItemsOfDays(accountReportList(accountId), toBegins(reports)),
  );
  const changes = taken.map(({ seq, number }) => toRow({ at }, { accountSeq: seq, number, nonce }));
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
  readonly nonce: string;
  readonly version: string;
  readonly domainsVersion: string | null;
};

const headUpdate = prepareQuery((db, param: Param<NewHead>) =>
  db
    .updateTable('account')
    .set((eb) => ({
      reports_total: eb('reports_total', '+', param('reports')),
      reports_version: param('version'),
      domains_version: eb.fn.coalesce(param('domainsVersion'), 'domains_version'),
      changes: eb('changes', '+', param('reports')),
      changes_nonce: param('nonce'),
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
    await countItems(tx, accountReportList(account.id), { instants: toBegins(some), by: -1 });
  }
}

const toBegins = (reports: readonly Listed[]) => reports.map(({ begin_date }) => begin_date);
