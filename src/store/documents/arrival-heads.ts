import type { Instant } from '../../domain/instant.ts';
import type { ReportedDomain } from '../accounts/reported-domains.ts';
import { type BoundQuery, prepareQuery } from '../engine/prepared.ts';
import { domainListUpdate, newVersion } from '../lists/heads.ts';
import { newMark, pointInserts } from '../lists/points.ts';
import { reportList } from '../lists/timeline.ts';

/** A domain as it was when it was locked, and how many reports have come since. */
interface Lengthened {
  readonly domain: ReportedDomain;
  readonly reports: number;
}

/**
 * Statements that update the heads of domains' lists of reports: a new version, a longer list, and its newest
 * point. After them come the accounts, by id, whose lists of domains then show a difference.
 */
export function toHeadUpdates(
  domains: readonly Lengthened[],
  receivedAt: Instant,
): BoundQuery<never>[] {
  const lists = domains.map((lengthened) => toList(lengthened, receivedAt));
  const points = lists.map(({ id, position, mark }) => ({
    listId: reportList(id),
    position,
    mark,
  }));
  const accountIds = domains.flatMap(({ domain }) => toShowing(domain, receivedAt));
  const accounts = [...new Set(accountIds)].sort();
  return [
    ...lists.map(reportListUpdate),
    ...pointInserts(points),
    ...accounts.map((id) => domainListUpdate({ accountId: id, added: 0, version: newVersion() })),
  ];
}

type ChangedList = {
  readonly id: string;
  readonly added: number;
  readonly version: string;
  readonly position: number;
  readonly mark: string;
  /** null when a report was received as late before. */
  readonly lastReportAt: Instant | null;
};

function toList({ domain, reports }: Lengthened, receivedAt: Instant): ChangedList {
  const point = { position: Number(domain.position) + reports, mark: newMark() };
  const lastReportAt = isNewest(domain, receivedAt) ? receivedAt : null;
  return { id: domain.id, added: reports, version: newVersion(), ...point, lastReportAt };
}

/** Reports of the same second have the same instant. */
function isNewest({ lastReportAt }: ReportedDomain, receivedAt: Instant): boolean {
  return lastReportAt === null || lastReportAt < receivedAt;
}

/** The account whose list of domains shows when the domain's last report was received. */
function toShowing(domain: ReportedDomain, receivedAt: Instant): string[] {
  const { accountId, status } = domain;
  const isShown = accountId !== null && status === 'active';
  return isShown && isNewest(domain, receivedAt) ? [accountId] : [];
}

const reportListUpdate = prepareQuery<ChangedList, never>((db, param) =>
  db
    .updateTable('domain')
    .set((eb) => ({
      reports_total: eb('reports_total', '+', param('added')),
      reports_version: param('version'),
      reports_position: param('position'),
      reports_mark: param('mark'),
      last_report_at: eb.fn.coalesce(param('lastReportAt'), 'last_report_at'),
    }))
    .where('id', '=', param('id')),
);
