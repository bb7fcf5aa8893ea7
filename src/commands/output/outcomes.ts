import { lstatSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { domainOf, isTls, type Report } from '../../domain/reports/report.ts';
import type { IngestedDocument } from '../../intake/ingest.ts';
import { findDomainIds } from '../../store/domains/domains.ts';
import type { Store } from '../../store/engine/store.ts';
import { evaluateNow } from '../alerts.ts';
import { type OutputOptions, print, printJson, renderRows, tell } from './output.ts';

/* What became of documents, printed by the commands that read them. */

/** The path, and the name of the input, that stand for standard input. */
export const STANDARD_INPUT = '-';

const MAX_SHOWN = 50;

const MEANINGS = {
  stored: 'new reports',
  unclaimed: 'new reports of domains that no account has: plumbline domain list --unclaimed',
  duplicate: 'reports that are stored already, with the same content',
  conflict:
    'a stored report again, with other content; the first one stands: plumbline document list --outcome conflict',
  removed: 'contents that an operator removed',
  rejected: 'not readable, or not a report: plumbline document list --outcome rejected',
  ignored: 'something beside a report, such as the text of a mail',
} as const satisfies Record<IngestedDocument['outcome'], string>;

/** Nothing is stored of an input that could not be read, so no list has it. */
const UNREADABLE = 'could not be read: see below';

const OUTCOMES = Object.keys(MEANINGS) as (keyof typeof MEANINGS)[];

type ToName = (document: IngestedDocument) => string;

/** `paths` are those given to the command; none when stored inputs are read again. */
export async function printAndEvaluate(
  store: Store,
  documents: AsyncIterable<IngestedDocument>,
  { options, paths }: { readonly options: OutputOptions; readonly paths: readonly string[] },
) {
  const toName: ToName = (document) => toShownName(document, paths);
  const names = ['documents', ...OUTCOMES] as const;
  const counts = Object.fromEntries(names.map((name) => [name, 0])) as Record<
    (typeof names)[number],
    number
  >;
  const rejected: IngestedDocument[] = [];
  const domainNames = new Set<string>();
  // Inputs that could not be read at all, so that nothing of them is stored.
  let unreadable = 0;
  for await (const document of documents) {
    const { outcome, report, refusal } = document;
    counts.documents += 1;
    counts[outcome] += 1;
    if (outcome === 'stored' && report !== null) domainNames.add(domainOf(report));
    if (outcome === 'rejected' && rejected.length < MAX_SHOWN) rejected.push(document);
    if (refusal?.reason === 'unreadable') unreadable += 1;
    printAtOnce(document, options, toName);
  }
  if (options.json) printJson({ summary: counts });
  else if (!options.quiet && counts.documents > 0)
    printTables({ counts, unreadable }, rejected, toName);
  await evaluateNow(store, await findDomainIds(store.db, [...domainNames]));
  return { counts, unreadable };
}

function printAtOnce(document: IngestedDocument, { json, quiet }: OutputOptions, toName: ToName) {
  const { refusal } = document;
  if (json) printJson(toOutput(document));
  // Nothing of it is stored, so no list has it. Without tables it is printed here.
  if (quiet && refusal?.reason === 'unreadable') tell(`${toName(document)}: ${refusal.message}`);
}

/**
 * When the only path is a folder, files are named relative to it. A path that could not be read is shown as
 * an absolute path, because npm starts the command in another folder.
 */
function toShownName(
  { input, refusal }: IngestedDocument,
  [folder, ...others]: readonly string[],
): string {
  const isPath = folder !== undefined && input !== STANDARD_INPUT;
  if (isPath && refusal?.reason === 'unreadable') return resolve(input);
  const isAlone = folder !== undefined && others.length === 0;
  const isFolder = isAlone && lstatSync(folder, { throwIfNoEntry: false })?.isDirectory();
  return isFolder ? relative(folder, input) || input : input;
}

function printTables(
  { counts, unreadable }: Awaited<ReturnType<typeof printAndEvaluate>>,
  rejected: readonly IngestedDocument[],
  toName: ToName,
): void {
  const isListed = counts.rejected > unreadable;
  const met = OUTCOMES.filter((outcome) => counts[outcome] > 0);
  const rows = met.map((outcome) => ({
    outcome,
    documents: counts[outcome],
    meaning: outcome === 'rejected' && !isListed ? UNREADABLE : MEANINGS[outcome],
  }));
  print(renderRows(rows));
  if (rejected.length === 0) return;
  const reasons = rejected.map((document) => {
    const { message, where = null } = document.refusal ?? {};
    return {
      rejected: [toName(document), ...document.member].join(' > '),
      why: where === null ? message : `${message} (${where})`,
    };
  });
  print(`\n${renderRows(reasons)}`);
  const more = `… and ${counts.rejected - MAX_SHOWN} more`;
  if (counts.rejected > MAX_SHOWN) print(isListed ? `${more}: plumbline document list` : more);
}

function toOutput({ input, member, outcome, report, refusal }: IngestedDocument) {
  return {
    input,
    member: member.length === 0 ? null : member.join(' > '),
    outcome,
    reason: refusal?.reason ?? null,
    message: refusal?.message ?? null,
    where: refusal?.where ?? null,
    domain: report && domainOf(report),
    report_id: report?.metadata.reportId ?? null,
    ...toCounts(report),
    warnings: report?.warnings.map(({ code }) => code) ?? [],
  };
}

/** Those of the other kind are null. */
function toCounts(report: Report | null) {
  const tally = report === null || isTls(report) ? undefined : report.tally;
  const sessions = report !== null && isTls(report) ? report.sessions : undefined;
  return {
    record_count: tally?.recordCount ?? null,
    total_messages: tally?.totalMessages ?? null,
    aligned_messages: tally?.alignedMessages ?? null,
    successful_sessions: sessions?.successes ?? null,
    failed_sessions: sessions?.failures ?? null,
  };
}
