import { type Day, type Instant, toDay } from '../../../domain/instant.ts';
import type { AggregateReport } from '../../../domain/reports/aggregate-report.ts';
import { toReportId } from '../../../domain/reports/report-identity.ts';
import { lockReportedDomains, type ReportedDomain } from '../../accounts/reported-domains.ts';
import type { Db, Queries, Tx } from '../../engine/database.ts';
import { prepareQuery, runAllPrepared, runPrepared } from '../../engine/prepared.ts';
import type { StoredInput } from '../../inputs/inputs.ts';
import { toReportFields } from '../../reports/report-row.ts';
import { addDetails, changeSources } from './changes.ts';
import { addSources, type SourcesOfDay } from './source-ips.ts';
import { boundTexts, SourceTexts, textInserts } from './texts.ts';

/*
 * Reports that were stored before their sources had details (decision 93). Each has a row in `undetailed_report` until
 * its original is read again. The transaction that adds its details deletes that row, so nothing is added twice when
 * the reading is interrupted or when two processes read.
 */

interface UndetailedReport {
  readonly domainId: string;
  readonly day: Day;
  readonly reportSeq: number;
}

/** Deletes the row of a report. Returns whether it was there. */
export async function forgetUndetailed(
  tx: Tx,
  { domainId, day, reportSeq }: UndetailedReport,
): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('undetailed_report')
    .where('domain_id', '=', domainId)
    .where('day', '=', day)
    .where('report_seq', '=', reportSeq)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** How many reports have no details. */
export async function countUndetailed(db: Queries): Promise<number> {
  const { reports } = await db
    .selectFrom('undetailed_report')
    .select(({ fn }) => fn.countAll<number>().as('reports'))
    .executeTakeFirstOrThrow();
  return Number(reports);
}

/** Inputs in one query. */
const INPUTS_AT_ONCE = 100;

/** The inputs of reports without details that were received at `since` or later, in the order in which they came in. */
export async function* listUndetailedInputs(
  db: Db,
  since: Instant = '',
): AsyncGenerator<StoredInput> {
  let after = 0;
  for (;;) {
    const seqs = await listSeqs(db, after);
    if (seqs.length === 0) return;
    const inputs = await db
      .selectFrom('source')
      .select(['seq', 'name', 'received_at as receivedAt'])
      .where('seq', 'in', seqs)
      .where('received_at', '>=', since)
      .orderBy('seq')
      .execute();
    yield* inputs;
    after = seqs.at(-1) ?? after;
  }
}

async function listSeqs(db: Db, after: number): Promise<number[]> {
  const rows = await db
    .selectFrom('undetailed_report')
    .select('source_seq')
    .distinct()
    .where('source_seq', '>', after)
    .orderBy('source_seq')
    .limit(INPUTS_AT_ONCE)
    .execute();
  return rows.map(({ source_seq }) => Number(source_seq));
}

/** The bounds of one transaction: reports, and addresses of these reports. */
const MAX_REPORTS = 50;
const MAX_SOURCES_AT_ONCE = 1_000;

/**
 * Adds details of reports that were read again to the stored sources of their days, in bounded transactions.
 * Messages do not change. A report that is not stored, whose content is not the stored one, or that has details
 * already, does not change. Returns how many reports got details.
 */
export async function insertDetails(db: Db, reports: readonly AggregateReport[]): Promise<number> {
  let inserted = 0;
  for (const some of toBatches(reports)) inserted += await db.write((tx) => insertSome(tx, some));
  return inserted;
}

function toBatches(reports: readonly AggregateReport[]): AggregateReport[][] {
  const parts: AggregateReport[][] = [];
  let [part, sources]: [AggregateReport[], number] = [[], 0];
  for (const report of reports) {
    const added = report.sources?.length ?? 0;
    const isFull = part.length >= MAX_REPORTS || sources + added > MAX_SOURCES_AT_ONCE;
    if (part.length > 0 && isFull) {
      parts.push(part);
      [part, sources] = [[], 0];
    }
    part.push(report);
    sources += added;
  }
  return part.length === 0 ? parts : [...parts, part];
}

/** The details of reports of one domain. */
interface AddedDetails {
  readonly days: Map<Day, SourcesOfDay>;
  readonly texts: SourceTexts;
}

async function insertSome(tx: Tx, reports: readonly AggregateReport[]): Promise<number> {
  const names = new Set(reports.map(({ policyPublished }) => policyPublished.domain));
  const domains = await lockReportedDomains(tx, [...names]);
  let inserted = 0;
  for (const domain of domains) {
    const found: AddedDetails = { days: new Map(), texts: new SourceTexts() };
    for (const report of reports)
      if (report.policyPublished.domain === domain.name && (await claim(tx, domain, report))) {
        addReport(found, report);
        inserted += 1;
      }
    await writeDetails(tx, domain.id, found);
  }
  return inserted;
}

/** Returns true when the report is stored with this content and without details, which this transaction then adds. */
async function claim(tx: Tx, domain: ReportedDomain, report: AggregateReport): Promise<boolean> {
  const domainId = domain.id;
  const [stored] = await runPrepared(tx, storedReport({ domainId, id: toReportId(report) }));
  if (stored?.payload_sha256 !== report.payloadSha256) return false;
  const { begin_date } = toReportFields(report);
  return await forgetUndetailed(tx, {
    domainId,
    day: toDay(begin_date),
    reportSeq: Number(stored.seq),
  });
}

type StoredReport = { seq: number; payload_sha256: string };

const storedReport = prepareQuery<{ domainId: string; id: string }, StoredReport>((db, param) =>
  db
    .selectFrom('report')
    .select(['seq', 'payload_sha256'])
    .where('domain_id', '=', param('domainId'))
    .where('id', '=', param('id')),
);

function addReport({ days, texts }: AddedDetails, report: AggregateReport): void {
  const { begin_date, reporter_org } = toReportFields(report);
  const day = toDay(begin_date);
  const sources: SourcesOfDay = days.get(day) ?? new Map();
  addSources(sources, report.sources ?? [], texts.ofReport(day, reporter_org));
  days.set(day, sources);
}

async function writeDetails(
  tx: Tx,
  domainId: string,
  { days, texts }: AddedDetails,
): Promise<void> {
  for (const [day, sources] of days)
    await changeSources(tx, { domainId, day }, { sources, change: addDetails });
  const inserted = await runAllPrepared(tx, textInserts(texts.toRows(domainId)));
  await boundTexts(tx, inserted.flat());
}
