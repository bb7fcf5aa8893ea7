import { type Expression, type InferResult, type SqlBool, sql } from 'kysely';
import { Failure } from '../../domain/failure.ts';
import { IS_DMARC, IS_TLS } from '../days/believed.ts';
import type { Queries } from '../engine/database.ts';
import { orDivided } from '../engine/dialect.ts';
import { type Param, prepareQuery } from '../engine/prepared.ts';
import { askAll, type Reader } from '../engine/reader.ts';
import { isOfDomain } from '../lists/heads.ts';

export const NO_SUCH_REPORT = 'No such report.';

/** A report's content changes only with its number in the order of arrival. */
const VERSION = sql<string>`report.nonce || '.' || report.seq`;

/** Reports with their domains' names, and where their documents are stored. */
export function selectStoredReports(db: Pick<Queries, 'selectFrom'>) {
  return db
    .selectFrom('report')
    .innerJoin('domain', 'domain.seq', 'report.domain_seq')
    .select([
      'report.id',
      'report.seq',
      'domain.id as domain_id',
      'domain.name as domain',
      'report.received_at',
    ])
    .select([
      'reporter_org',
      'reporter_email',
      'report_id',
      'authenticated',
      'doubt',
      'begin_date',
      'end_date',
    ])
    .select(['record_count', 'total_messages', 'aligned_messages', 'warnings'])
    .select(['document_seq', 'payload_sha256', 'content', 'revision', 'kind'])
    .select(VERSION.as('version'));
}

export type ReportOfAccount = InferResult<ReturnType<typeof selectStoredReports>>[number];

type ReportScope = { accountId: string; domainId: string; reportId: string };

/** On several servers, the one that has the domain's reports is asked. */
const isOf = (domainId: Expression<string>) =>
  orDivided(
    sql<SqlBool>`domain.id = ${domainId}`,
    sql<SqlBool>`domain.id = ${domainId} and ${isOfDomain(domainId)}`,
  );

const prepareReport = (isOfKind: typeof IS_TLS) =>
  prepareQuery((db, param: Param<ReportScope>) =>
    selectStoredReports(db)
      .where(isOf(param('domainId')))
      .where('report.id', '=', param('reportId'))
      .where(isOfKind)
      .where('domain.account_id', '=', param('accountId')),
  );

const prepareVersion = (isOfKind: typeof IS_TLS) =>
  prepareQuery((db, param: Param<ReportScope>) =>
    db
      .selectFrom('report')
      .innerJoin('domain', 'domain.seq', 'report.domain_seq')
      .select(VERSION.as('version'))
      .where(isOf(param('domainId')))
      .where('report.id', '=', param('reportId'))
      .where(isOfKind)
      .where('domain.account_id', '=', param('accountId')),
  );

const ONE = { dmarc: prepareReport(IS_DMARC), tls: prepareReport(IS_TLS) };

/** Throws `not_found`, with the same message whether another account has the report or it does not exist. */
export async function findReport(
  reader: Reader,
  scope: ReportScope,
  kind: keyof typeof ONE = 'dmarc',
): Promise<ReportOfAccount> {
  const [report] = await reader.readAll(ONE[kind](scope));
  if (report === undefined) throw new Failure('not_found', NO_SUCH_REPORT);
  return report;
}

/** Its version alone. No row when the account has no such report. */
export const reportVersion = prepareVersion(IS_DMARC);
export const tlsReportVersion = prepareVersion(IS_TLS);

/** How a report came in, and when conflicting documents did. */
export type ReportContext = Awaited<ReturnType<typeof readReportContext>>;

/** How many conflicts are read; one report may have any number. */
export const MAX_CONFLICTS = 10;

/** Its size is null when its original was not kept. */
const arrival = prepareQuery((db, param: Param<{ seq: number }>) =>
  db
    .selectFrom('document')
    .select(['input_name as input', 'member', 'content_bytes as originalBytes'])
    .select(({ eb }) =>
      eb.case().when('content', 'is', null).then(0).else(1).end().as('hasOriginal'),
    )
    .where('seq', '=', param('seq')),
);

const conflicts = prepareQuery((db, param: Param<{ domainId: string; id: string }>) =>
  db
    .selectFrom('conflict')
    .select('received_at')
    .where(isOfDomain(param('domainId')))
    .where('report_id', '=', param('id'))
    // Without an order, because sorting would read all conflicts of the report.
    .limit(MAX_CONFLICTS),
);

const UNKNOWN = { input: '', member: null, originalBytes: null, hasOriginal: 0 };

export async function readReportContext(
  reader: Reader,
  { domain_id: domainId, id, document_seq }: ReportOfAccount,
) {
  const [[arrived = UNKNOWN], found] = await reader.readPlan(() =>
    askAll(arrival({ seq: document_seq }), conflicts({ domainId, id })),
  );
  /** At most `MAX_CONFLICTS` of them, earliest first. */
  const conflictsAt = found.map(({ received_at }) => received_at).sort();
  return { ...arrived, conflictsAt };
}
