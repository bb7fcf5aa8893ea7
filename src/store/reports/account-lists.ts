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
import { accountSeqOf, ofDmarc, type ReportRow } from './report-row.ts';

/*
 * The list of the reports of an account's active domains: those of DMARC that have the account's number. What comes to it, and
 * the TLS reports of those domains, take the next numbers of the account's changes.
 */

type Listed = Pick<ReportRow, 'begin_date' | 'reporter' | 'reporter_host' | 'kind'>;

interface Arrived {
  readonly accountId: string;
  readonly reports: readonly Listed[];
  /** Whether the account's list of domains shows a change as well; and the one that has paused domains, too. */
  readonly isDomainChanged?: boolean;
  readonly isAnyChanged?: boolean;
}

type Place = Pick<ReportRow, 'account_seq' | 'tls_account_seq' | 'number'>;
const NO_PLACE: Place = { account_seq: null, tls_account_seq: null, number: null };

/** Counts reports that come to lists, and returns the columns that put each there. Locks the accounts, by id. */
export async function addToLists(
  tx: Tx,
  arrived: readonly Arrived[],
  { nonce, at }: { readonly nonce: string; readonly at: Instant },
): Promise<(report: Listed) => Place> {
  const ordered = arrived.toSorted((a, b) => (a.accountId < b.accountId ? -1 : 1));
  const updates = ordered.map(({ accountId, reports, ...changed }) => {
    const listed = ofDmarc(reports).length;
    const taken = reports.length;
    return headUpdate({
      ...{ accountId, taken, listed, nonce: taken > 0 ? nonce : null },
      version: toVersion(listed > 0),
      tlsVersion: toVersion(taken > listed),
      domainsVersion: toVersion(changed.isDomainChanged),
      allVersion: toVersion(changed.isAnyChanged),
    });
  });
  const taken = (await runAllPrepared(tx, updates)).flat();
  const items = ordered.flatMap(({ accountId, reports }) =>
    toItemsOfDays(accountReportList(accountId), toItems(ofDmarc(reports))),
  );
  const changes = taken
    .filter((_, i) => ordered[i]?.reports.length)
    .map(({ seq, number }) => toRow({ at }, { accountSeq: seq, number, nonce }));
  await runAllPrepared(tx, [...itemUpserts(items), ...changeInserts(changes)]);
  const places = new Map(
    ordered.flatMap(({ reports }, i) => {
      const { seq = 0, number: last = 0 } = taken[i] ?? {};
      const first = last - reports.length + 1;
      return reports.map((report, n) => [report, toPlace(report, seq, first + n)] as const);
    }),
  );
  return (report) => places.get(report) ?? NO_PLACE;
}

const toPlace = ({ kind }: Listed, seq: number, number: number): Place =>
  kind === null
    ? { account_seq: seq, tls_account_seq: null, number }
    : { account_seq: null, tls_account_seq: seq, number };

/** null where nothing is new. */
const toVersion = (isNew: boolean | undefined) => (isNew ? newVersion() : null);

type NewHead = {
  readonly accountId: string;
  /** Numbers, and of those the reports of the list. */
  readonly taken: number;
  readonly listed: number;
  readonly nonce: string | null;
  readonly version: string | null;
  readonly tlsVersion: string | null;
  readonly domainsVersion: string | null;
  readonly allVersion: string | null;
};

const headUpdate = prepareQuery((db, param: Param<NewHead>) =>
  db
    .updateTable('account')
    .set((eb) => ({
      reports_total: eb('reports_total', '+', param('listed')),
      reports_version: eb.fn.coalesce(param('version'), 'reports_version'),
      tls_version: eb.fn.coalesce(param('tlsVersion'), 'tls_version'),
      all_domains_version: eb.fn.coalesce(param('allVersion'), 'all_domains_version'),
      domains_version: eb.fn.coalesce(param('domainsVersion'), 'domains_version'),
      changes: eb('changes', '+', param('taken')),
      changes_nonce: eb.fn.coalesce(param('nonce'), 'changes_nonce'),
    }))
    .where('id', '=', param('accountId'))
    .returning(['seq', 'changes as number']),
);

/** Counts reports that leave the lists that they are in, if any. */
export async function takeFromLists(tx: Tx, reports: readonly (Listed & Place)[]): Promise<void> {
  for (const [seq, some] of Map.groupBy(reports, accountSeqOf)) {
    if (seq === null) continue;
    const listed = ofDmarc(some);
    const account = await tx
      .updateTable('account')
      .set((eb) => ({
        reports_total: eb('reports_total', '-', listed.length),
        ...(listed.length > 0 && { reports_version: newVersion() }),
        ...(listed.length < some.length && { tls_version: newVersion() }),
      }))
      .where('seq', '=', seq)
      .returning('id')
      .executeTakeFirst();
    // The account was deleted meanwhile, and its list with it.
    if (account === undefined) continue;
    await countItems(tx, accountReportList(account.id), { items: toItems(listed), by: -1 });
  }
}

/** Each is in the list's parts of its reporter's names. */
const toItems = (reports: readonly Listed[]): CountedItem[] =>
  reports.map(({ begin_date: at, reporter, reporter_host }) => {
    return { at, parts: [reporter, reporter_host].filter((key) => key !== null) };
  });
