import type { Instant } from '../../domain/instant.ts';
import { addSafely } from '../../domain/safe-sum.ts';
import { addToDays, countEach } from '../days/day-counts.ts';
import type { Tx } from '../engine/database.ts';
import { type Param, prepareQuery, runAllPrepared } from '../engine/prepared.ts';
import { insertEvents, type NewEvent } from '../events/events.ts';
import { newNonce, toFeedCursor } from '../lists/changes.ts';
import { newVersion } from '../lists/heads.ts';
import { addToLists } from './account-lists.ts';
import { type NewRow, placeOf } from './report-row.ts';
import { reportInserts } from './report-rows.ts';
import { isListed, type ReportedDomain } from './reported-domains.ts';

/** A report that is not stored. */
export interface NewReport {
  /** Locked. */
  readonly domain: ReportedDomain;
  readonly row: NewRow;
  /** What it states, as tags of a DMARC record; null when that is nothing. */
  readonly policy: string | null;
  /** Of one that takes the place of another content. */
  readonly revision?: number;
}

/**
 * Stores reports, with the days that they add to, the heads of the lists that they come to, and an event for each domain.
 * Accounts are locked after domains, and nearly at the end of the transaction (decision 64).
 */
export async function storeReports(
  tx: Tx,
  reports: readonly NewReport[],
  at: Instant,
): Promise<void> {
  if (reports.length === 0) return;
  const nonce = newNonce();
  const listed = reports.filter(({ row }) => row.kind === null);
  const byDomain = [...Map.groupBy(listed, ({ domain }) => domain).entries()];
  await runAllPrepared(tx, byDomain.map(toHeadUpdate));
  const places = await addToLists(tx, toArrived(byDomain), { nonce, at });
  const rows = reports.map(({ row, revision = 1 }) => {
    const { account_seq = null, number = null } = places.get(row) ?? {};
    return { ...row, account_seq, number, nonce, revision };
  });
  const queries = [...reportInserts(rows), ...toDays(listed)];
  // Days have no rows.
  const inserted = (await runAllPrepared<unknown>(tx, queries)).flat();
  // The domains are locked, so nobody else stored these ids. A missing row means that its `seq` exists already, as
  // after a sequence was set back.
  if (inserted.length < rows.length)
    throw new Error('A report was not inserted: its number exists.');
  const events = byDomain.flatMap(([domain, some]) => toEvents(domain, some.length, at));
  await insertEvents(tx, events);
}

type ByDomain = readonly [ReportedDomain, readonly NewReport[]];

function toDays(reports: readonly NewReport[]) {
  const byPlace = Map.groupBy(reports, ({ row }) => Object.values(placeOf(row)).join(' '));
  return addToDays(
    [...byPlace.values()].map((some) => {
      const [{ row }] = some as [NewReport];
      return {
        ...placeOf(row),
        reports: some.length,
        ...countEach((column) => some.reduce((all, { row }) => addSafely(all, row[column]), 0)),
        policy: some.map((one) => one.policy).findLast(Boolean) ?? null,
      };
    }),
  );
}

function toHeadUpdate([domain, reports]: ByDomain) {
  return headUpdate({
    id: domain.id,
    added: reports.length,
    version: newVersion(),
    // null when another report was received at the same time or later.
    lastReportAt: findNewer(domain, reports),
  });
}

/** When the last of the reports was received, if it is the last of its domain. */
function findNewer({ lastReportAt }: ReportedDomain, reports: readonly NewReport[]) {
  const last = reports.reduce(
    (max, { row }) => (row.received_at > max ? row.received_at : max),
    '',
  );
  return lastReportAt === null || lastReportAt < last ? last : null;
}

type NewHead = { id: string; added: number; version: string; lastReportAt: Instant | null };

const headUpdate = prepareQuery((db, param: Param<NewHead>) =>
  db
    .updateTable('domain')
    .set((eb) => ({
      reports_total: eb('reports_total', '+', param('added')),
      reports_version: param('version'),
      last_report_at: eb.fn.coalesce(param('lastReportAt'), 'last_report_at'),
    }))
    .where('id', '=', param('id')),
);

function toArrived(byDomain: readonly ByDomain[]) {
  const owned = byDomain.filter(([{ accountId }]) => accountId !== null);
  const byAccount = Map.groupBy(owned, ([{ accountId }]) => accountId as string);
  return [...byAccount].map(([accountId, some]) => {
    const listed = some.filter(([domain]) => isListed(domain));
    // Each domain of a list has the time of its newest report.
    const changed = some.filter(([domain, reports]) => findNewer(domain, reports) !== null);
    return {
      accountId,
      reports: listed.flatMap(([, reports]) => reports.map(({ row }) => row)),
      isDomainChanged: changed.some((one) => listed.includes(one)),
      isAnyChanged: changed.length > 0,
    };
  });
}

/** Its cursor is the feed's from before these reports. */
function toEvents(domain: ReportedDomain, reports: number, at: Instant): NewEvent[] {
  const { id, accountId, isReceived, number, nonce } = domain;
  if (accountId === null || !isListed(domain) || !isReceived) return [];
  const cursor = toFeedCursor(accountId, { number: number ?? 0, nonce: nonce ?? '' });
  const data = JSON.stringify({ domain_id: id, report_count: reports, cursor });
  return [{ accountId, type: 'report.received', at, data }];
}
