import type { InferResult } from 'kysely';
import { Failure } from '../../domain/failure.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Queries } from '../engine/database.ts';
import { prepareQuery } from '../engine/prepared.ts';
import { askAll, type Reader } from '../engine/reader.ts';

/** Reports with their domains' names, and where their documents are stored. */
export function selectStoredReports(db: Pick<Queries, 'selectFrom'>) {
  return db
    .selectFrom('report')
    .innerJoin('domain', 'domain.id', 'report.domain_id')
    .select(['report.id', 'report.seq', 'domain_id', 'domain.name as domain', 'report.received_at'])
    .select(['reporter_org', 'reporter_email', 'report_id', 'begin_date', 'end_date'])
    .select(['record_count', 'total_messages', 'aligned_messages', 'warnings'])
    .select(['source_seq', 'member', 'payload_sha256']);
}

export type ReportOfAccount = InferResult<ReturnType<typeof selectStoredReports>>[number];

type ReportScope = { accountId: string; domainId: string; reportId: string };

const oneReport = prepareQuery<ReportScope, ReportOfAccount>((db, param) =>
  selectStoredReports(db)
    .where('report.domain_id', '=', param('domainId'))
    .where('report.id', '=', param('reportId'))
    .where('domain.account_id', '=', param('accountId')),
);

/** Throws `not_found`, with the same message whether another account has the report or it does not exist. */
export async function findReport(reader: Reader, scope: ReportScope): Promise<ReportOfAccount> {
  const [report] = await reader.readAll(oneReport(scope));
  if (report === undefined) throw new Failure('not_found', 'No such report.');
  return report;
}

/** The name of a report's input, and when conflicting documents came in. */
export interface ReportContext {
  readonly source: string;
  /** At most `MAX_CONFLICTS` of them, earliest first. */
  readonly conflictsAt: readonly Instant[];
}

/** How many conflicts are read; one report may have any number. */
export const MAX_CONFLICTS = 10;

const sourceName = prepareQuery<{ seq: number }, { name: string }>((db, param) =>
  db.selectFrom('source').select('name').where('seq', '=', param('seq')),
);

const conflicts = prepareQuery<{ domainId: string; seq: number }, { received_at: Instant }>(
  (db, param) =>
    db
      .selectFrom('conflict')
      .select('received_at')
      .where('domain_id', '=', param('domainId'))
      .where('report_seq', '=', param('seq'))
      // Without an order, because sorting would read all conflicts of the report.
      .limit(MAX_CONFLICTS),
);

export async function readReportContext(
  reader: Reader,
  { domain_id: domainId, seq, source_seq }: ReportOfAccount,
): Promise<ReportContext> {
  const [[source], found] = await reader.readPlan(() =>
    askAll(sourceName({ seq: source_seq }), conflicts({ domainId, seq })),
  );
  return {
    source: source?.name ?? '',
    conflictsAt: found.map(({ received_at }) => received_at).sort(),
  };
}
