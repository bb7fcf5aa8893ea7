import type { IngestedDocument } from '../intake/ingest.ts';
import { type OutputOptions, print, printJson, renderRows, tell } from './output.ts';

/* What became of documents, printed by the commands that read them. */

/** How many rejected documents the table lists. */
const MAX_SHOWN = 50;

/** Each outcome, with what it means for a person who meets it. */
const MEANINGS = {
  stored: 'new reports',
  unclaimed: 'new reports of domains that no account has: plumbline domain list --unclaimed',
  duplicate: 'reports that are stored already, with the same content',
  conflict:
    'a stored report again, with other content; the first one stands: plumbline document list --outcome conflict',
  removed: 'contents that an operator removed',
  rejected: 'not readable, or not an aggregate report: plumbline document list --outcome rejected',
  ignored: 'something beside a report, such as the text of a mail',
} as const satisfies Record<IngestedDocument['outcome'], string>;

type Outcome = keyof typeof MEANINGS;
const OUTCOMES = Object.keys(MEANINGS) as Outcome[];

/** How many documents there were, in all and with each outcome. */
export type Counts = Record<'documents' | Outcome, number>;

export interface Summary {
  readonly counts: Counts;
  /** Sources that could not be read at all, so that nothing of them is stored. */
  readonly unreadable: number;
}

/** Prints what became of each document, as lines of JSON or as tables. `toName` shortens a source's name. */
export async function printOutcomes(
  documents: AsyncIterable<IngestedDocument>,
  options: OutputOptions,
  toName: (source: string) => string = (source) => source,
): Promise<Summary> {
  const counts = Object.fromEntries(['documents', ...OUTCOMES].map((name) => [name, 0])) as Counts;
  const rejected: IngestedDocument[] = [];
  let unreadable = 0;
  for await (const document of documents) {
    counts.documents += 1;
    counts[document.outcome] += 1;
    if (options.json) printJson(toOutput(document));
    if (document.outcome === 'rejected' && rejected.length < MAX_SHOWN) rejected.push(document);
    if (document.refusal?.reason === 'unreadable') unreadable += tellUnreadable(document, options);
  }
  if (options.json) printJson({ summary: counts });
  else if (!options.quiet && counts.documents > 0) printTables(counts, rejected, toName);
  return { counts, unreadable };
}

/** Nothing of it is stored, so it is not in a later list. Without tables it is said here. */
function tellUnreadable({ source, refusal }: IngestedDocument, { quiet }: OutputOptions): 1 {
  if (quiet) tell(`${source}: ${refusal?.message}`);
  return 1;
}

function printTables(
  counts: Counts,
  rejected: readonly IngestedDocument[],
  toName: (source: string) => string,
): void {
  const met = OUTCOMES.filter((outcome) => counts[outcome] > 0);
  const rows = met.map((outcome) => ({
    outcome,
    documents: counts[outcome],
    meaning: MEANINGS[outcome],
  }));
  print(renderRows(rows));
  if (rejected.length === 0) return;
  const reasons = rejected.map(({ source, member, refusal }) => ({
    rejected: [toName(source), ...member].join(' > '),
    why: refusal?.where == null ? refusal?.message : `${refusal.message} (${refusal.where})`,
  }));
  print(`\n${renderRows(reasons)}`);
  if (counts.rejected > MAX_SHOWN)
    print(`… and ${counts.rejected - MAX_SHOWN} more: plumbline document list`);
}

function toOutput({ source, member, outcome, report, refusal }: IngestedDocument) {
  return {
    source,
    member: member.length === 0 ? null : member.join(' > '),
    outcome,
    reason: refusal?.reason ?? null,
    message: refusal?.message ?? null,
    where: refusal?.where ?? null,
    domain: report?.policyPublished.domain ?? null,
    report_id: report?.metadata.reportId ?? null,
    record_count: report?.tally.recordCount ?? null,
    total_messages: report?.tally.totalMessages ?? null,
    aligned_messages: report?.tally.alignedMessages ?? null,
    warnings: report?.warnings.map(({ code }) => code) ?? [],
  };
}
