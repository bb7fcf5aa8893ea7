import type { Instant } from '../../domain/instant.ts';
import { addSafely } from '../../domain/safe-sum.ts';
import { addToDays, countEach } from '../days/day-counts.ts';
import type { Tx } from '../engine/database.ts';
import { type Param, prepareQuery, runAllPrepared } from '../engine/prepared.ts';
import { insertEvents, type NewEvent } from '../events/events.ts';
import { newNonce, toFeedCursor } from '../lists/changes.ts';
import { newVersion } from '../lists/heads.ts';
import { addToLists } from './account-lists.ts';
import { type NewRow, ofDmarc, ofTls, placeOf } from './report-row.ts';
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
  const byDomain = [...Map.groupBy(reports, ({ domain }) => domain)].map(toByDomain);
  await runAllPrepared(tx, byDomain.map(toHeadUpdate));
  const placeIn = await addToLists(tx, toArrived(byDomain), { nonce, at });
  const rows = reports.map(({ row, revision = 1 }) => ({
    ...{ ...row, ...placeIn(row), nonce, revision },
  }));
  const queries = [...reportInserts(rows), ...toDays(reports)];
  // Days have no rows.
  const inserted = (await runAllPrepared<unknown>(tx, queries)).flat();
  // The domains are locked, so nobody else stored these ids. A missing row means that its `seq` exists already, as
  // after a sequence was set back.
  if (inserted.length < rows.length)
    throw new Error('A report was not inserted: its number exists.');
  const events = byDomain.flatMap((some) => toEvents(some, at));
  await insertEvents(tx, events);
}

type ByDomain = ReturnType<typeof toByDomain>;

function toByDomain([domain, reports]: readonly [ReportedDomain, readonly NewReport[]]) {
  const rows = reports.map(({ row }) => row);
  return { domain, rows, dmarc: ofDmarc(rows), tls: ofTls(rows) };
}

function toDays(reports: readonly NewReport[]) {
  const counted = reports.filter(({ row }) => row.kind === null);
  const byPlace = Map.groupBy(counted, ({ domain, row }) =>
    Object.values(placeOf(domain.id, row)).join(' '),
  );
  return addToDays(
    [...byPlace.values()].map((some) => {
      const [{ domain, row }] = some as [NewReport];
      return {
        ...placeOf(domain.id, row),
        reports: some.length,
        ...countEach((column) => some.reduce((all, { row }) => addSafely(all, row[column]), 0)),
        policy: some.map((one) => one.policy).findLast(Boolean) ?? null,
      };
    }),
  );
}

function toHeadUpdate({ domain, dmarc, tls }: ByDomain) {
  return headUpdate({
    id: domain.id,
    ...{ added: dmarc.length, version: dmarc.length > 0 ? newVersion() : null },
    ...{ tlsAdded: tls.length, tlsVersion: tls.length > 0 ? newVersion() : null },
    // null when another report was received at the same time or later.
    lastReportAt: findNewer(domain, dmarc),
  });
}

/** When the last of the reports was received, if it is the last of its domain. */
function findNewer({ lastReportAt }: ReportedDomain, rows: readonly NewRow[]) {
  const last = rows.reduce((max, row) => (row.received_at > max ? row.received_at : max), '');
  return (lastReportAt ?? '') < last ? last : null;
}

type NewHead = {
  id: string;
  added: number;
  version: string | null;
  tlsAdded: number;
  tlsVersion: string | null;
  lastReportAt: Instant | null;
};

const headUpdate = prepareQuery((db, param: Param<NewHead>) =>
  db
    .updateTable('domain')
    .set((eb) => ({
      reports_total: eb('reports_total', '+', param('added')),
      reports_version: eb.fn.coalesce(param('version'), 'reports_version'),
      tls_total: eb('tls_total', '+', param('tlsAdded')),
      tls_version: eb.fn.coalesce(param('tlsVersion'), 'tls_version'),
      last_report_at: eb.fn.coalesce(param('lastReportAt'), 'last_report_at'),
    }))
    .where('id', '=', param('id')),
);

function toArrived(byDomain: readonly ByDomain[]) {
  const owned = byDomain.filter(({ domain }) => domain.accountId !== null);
  const byAccount = Map.groupBy(owned, ({ domain }) => domain.accountId as string);
  return [...byAccount].map(([accountId, some]) => {
    const listed = some.filter(({ domain }) => isListed(domain));
    // Each domain of a list has the time of its newest report.
    const changed = some.filter(({ domain, dmarc }) => findNewer(domain, dmarc) !== null);
    return {
      accountId,
      reports: listed.flatMap(({ rows }) => rows),
      isDomainChanged: changed.some((one) => listed.includes(one)),
      isAnyChanged: changed.length > 0,
    };
  });
}

/** Its cursor is the feed's from before these reports. */
function toEvents({ domain, dmarc, tls }: ByDomain, at: Instant): NewEvent[] {
  const { id, accountId, number, nonce } = domain;
  if (accountId === null || !isListed(domain)) return [];
  const cursor = toFeedCursor(accountId, { number: number ?? 0, nonce: nonce ?? '' });
  const toEvent = (type: 'report.received' | 'tls_report.received', report_count: number) => {
    const data = JSON.stringify({ domain_id: id, report_count, cursor });
    return { accountId, type, at, data };
  };
  return [
    ...(domain.isReceived && dmarc.length > 0 ? [toEvent('report.received', dmarc.length)] : []),
    ...(domain.isTlsReceived && tls.length > 0 ? [toEvent('tls_report.received', tls.length)] : []),
  ];
}
