import type { Instant } from '../../domain/instant.ts';
import { prepareQuery } from '../connection/prepared.ts';
import type { Reader } from '../connection/reader.ts';
import type { Head } from '../lists/heads.ts';
import type { Page, PageOf } from '../lists/page.ts';
import { pageSkip, pageUntil, reportList, withPageStart } from '../lists/timeline.ts';

/** A report row as it is listed. */
export interface ReportRow {
  readonly id: string;
  readonly reporter_org: string | null;
  readonly reporter_email: string | null;
  readonly begin_date: Instant;
  readonly end_date: Instant;
  readonly record_count: number;
  readonly total_messages: number;
  readonly aligned_messages: number;
}

const COLUMNS = [
  'id',
  'reporter_org',
  'reporter_email',
  'begin_date',
  'end_date',
  'record_count',
  'total_messages',
  'aligned_messages',
] as const;

type DomainOfAccount = { domainId: string; accountId: string };

const reportsHead = prepareQuery<DomainOfAccount, Head>((db, param) =>
  db
    .selectFrom('domain')
    .select(['reports_total as total', 'reports_version as version'])
    .where('id', '=', param('domainId'))
    .where('account_id', '=', param('accountId')),
);

const firstPage = prepareQuery<{ domainId: string; limit: number }, ReportRow>((db, param) =>
  db
    .selectFrom('report')
    .select(COLUMNS)
    .where('domain_id', '=', param('domainId'))
    .orderBy('begin_date', 'desc')
    .orderBy('seq', 'desc')
    .limit(param('limit')),
);

const laterPage = prepareQuery<{ list: string; domainId: string } & Page, ReportRow>((db, param) =>
  withPageStart(db, param('list'), param('offset'))
    .selectFrom('report')
    .select(COLUMNS)
    .where('domain_id', '=', param('domainId'))
    .where('begin_date', '<=', pageUntil)
    .orderBy('begin_date', 'desc')
    .orderBy('seq', 'desc')
    .limit(param('limit'))
    .offset(pageSkip),
);

/** undefined when the account has no such domain, whether or not another account has it. */
export async function findReportsHead(
  reader: Reader,
  domain: DomainOfAccount,
): Promise<Head | undefined> {
  const head = await reader.readFirst(reportsHead(domain));
  return head;
}

/** A page of a domain's reports, newest window first, then latest arrival. */
export async function listReports(
  reader: Reader,
  domain: DomainOfAccount,
  { limit, offset }: Page,
): Promise<PageOf<ReportRow>> {
  const { domainId } = domain;
  const page =
    offset === 0
      ? firstPage({ domainId, limit })
      : laterPage({ list: reportList(domainId), domainId, limit, offset });
  const [[head], rows] = await reader.readTogether(reportsHead(domain), page);
  return { ...(head as Head), rows };
}
