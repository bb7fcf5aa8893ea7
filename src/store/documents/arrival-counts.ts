import type { Selectable } from 'kysely';
import { toCursor } from '../../domain/cursor.ts';
import { type Instant, toDay } from '../../domain/instant.ts';
import { isInView } from '../../domain/reports/authentication.ts';
import { type Arrived, addArrivals } from '../account-reports/arrivals.ts';
import type { Tx } from '../engine/database.ts';
import { prepareRows } from '../engine/many-rows.ts';
import { type BoundQuery, prepareQuery, runAllPrepared } from '../engine/prepared.ts';
import { newVersion } from '../lists/heads.ts';
import { reportList } from '../lists/timeline.ts';
import { insertEvents, type NewEvent } from '../notify/events.ts';
import type { DomainDay } from '../sources/days.ts';
import type { Tables } from '../tables.ts';
import type { Arrivals, CountedReport, DomainArrivals } from './arrivals.ts';
import { toDayChanges } from './day-counts.ts';

/**
 * Writes the days and the heads of every list that the reports have changed, with the same statements for all domains.
 * The domains are locked, so nobody else changes their days; accounts are locked after them.
 */
export async function countArrivals(tx: Tx, arrivals: Arrivals): Promise<void> {
  const { byDomain, receivedAt } = arrivals;
  const receivedOn = toDay(receivedAt);
  const receipts = byDomain.map(({ domain, days, reports, bytes }) => {
    const doubtful = [...days.values()].flat().filter(isDoubtful).length;
    return { domain_id: domain.id, day: receivedOn, reports, doubtful, bytes };
  });
  await runAllPrepared(tx, [
    ...(await toDayChanges(tx, byDomain)),
    ...receiptUpserts(receipts),
    ...arrivals.conflicts.flatMap(countBytes),
    ...toHeadUpdates(arrivals),
  ]);
  await insertEvents(tx, toEvents(arrivals));
}

/** Of no established reporter. */
const isDoubtful = ({ authenticated }: CountedReport) => !isInView('established', authenticated);

/** One for each domain. Its cursor is the newest point that the list had before these reports. */
function toEvents({ byDomain, receivedAt: at }: Arrivals): NewEvent[] {
  return byDomain.flatMap(({ domain, reports }) => {
    const { id, accountId, status, isReceived, position, nonce, generation } = domain;
    if (accountId === null || !isReceived || status !== 'active') return [];
    const point = { position, nonce };
    const cursor = toCursor(reportList(id), { ...point, generation, newest: point });
    const data = JSON.stringify({ domain_id: id, report_count: reports, cursor });
    return { accountId, type: 'report.received', at, data };
  });
}

/** When reports came in, whatever they cover: `alert.reports_missing` needs these times. Adds to what is stored. */
export const receiptUpserts = prepareRows<Selectable<Tables['domain_receipt']>, never>(
  ['domain_id', 'day', 'reports', 'doubtful', 'bytes'],
  (db, rows) =>
    db
      .insertInto('domain_receipt')
      .values(rows)
      .onConflict((oc) =>
        oc.columns(['domain_id', 'day']).doUpdateSet((eb) => ({
          reports: eb('domain_receipt.reports', '+', eb.ref('excluded.reports')),
          doubtful: eb('domain_receipt.doubtful', '+', eb.ref('excluded.doubtful')),
          bytes: eb('domain_receipt.bytes', '+', eb.ref('excluded.bytes')),
        })),
      ),
);

/** The report that takes the bytes was received on the day. */
export const countBytes = ({ domainId, day, bytes }: DomainDay & { readonly bytes: number }) =>
  receiptUpserts([{ domain_id: domainId, day, reports: 0, doubtful: 0, bytes }]);

/** The heads of domains' lists of reports; then, ordered by id, those of accounts. */
function toHeadUpdates({ byDomain, receivedAt, nonce }: Arrivals): BoundQuery<never>[] {
  const heads = byDomain.map((arrivals) => ({ ...toNewHead(arrivals, receivedAt), nonce }));
  const listed = byDomain.filter(
    ({ domain }) => domain.status === 'active' && domain.unlistedUntil === null,
  );
  const byAccount = [...Map.groupBy(listed, ({ domain }) => domain.accountId)];
  byAccount.sort(([a], [b]) => ((a ?? '') < (b ?? '') ? -1 : 1));
  return [
    ...heads.map(headUpdate),
    ...byAccount.flatMap(([accountId, some]) => {
      const accountSeq = some[0]?.domain.accountSeq;
      if (accountId === null || accountSeq == null) return [];
      // Each domain of the account's list has the time of its newest report.
      const isListChanged = some.some(({ domain }) => isNewest(domain, receivedAt));
      const arrived = some.map(toArrived);
      return addArrivals({ accountId, accountSeq, arrived, nonce, isListChanged });
    }),
  ];
}

function toArrived({ domain, days, reports }: DomainArrivals): Arrived {
  return {
    domainSeq: domain.seq,
    domainPosition: domain.position + reports,
    days: new Map([...days].map(([day, ofDay]) => [day, ofDay.length])),
    reports,
  };
}

function toNewHead({ domain, reports }: DomainArrivals, receivedAt: Instant) {
  return {
    id: domain.id,
    added: reports,
    version: newVersion(),
    position: domain.position + reports,
    // null when the domain's last report was received at the same time or later.
    lastReportAt: isNewest(domain, receivedAt) ? receivedAt : null,
  };
}

/** Reports of the same second have the same instant. */
function isNewest({ lastReportAt }: DomainArrivals['domain'], receivedAt: Instant): boolean {
  return lastReportAt === null || lastReportAt < receivedAt;
}

type NewHead = ReturnType<typeof toNewHead> & { readonly nonce: string };

const headUpdate = prepareQuery<NewHead, never>((db, param) =>
  db
    .updateTable('domain')
    .set((eb) => ({
      reports_total: eb('reports_total', '+', param('added')),
      reports_version: param('version'),
      reports_position: param('position'),
      reports_nonce: param('nonce'),
      last_report_at: eb.fn.coalesce(param('lastReportAt'), 'last_report_at'),
    }))
    .where('id', '=', param('id')),
);
