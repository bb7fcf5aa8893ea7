import type { AggregateReport } from '../domain/reports/aggregate-report.ts';
import type { Refusal } from '../domain/reports/refusal.ts';
import { Budget } from './budget.ts';
import type { Finding } from './containers/finding.ts';
import { open, type Spot } from './containers/open.ts';
import { toContent } from './content.ts';
import { WarningLog } from './warnings.ts';

/** The bytes of one file or of standard input. */
export interface Source {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Of the bytes, in hex, when it is known already. */
  readonly sha256?: string;
}

export type IntakeDocument = {
  /**
   * Where inside the source: names of members, outermost first (`['report.xml.gz']`); empty when the source
   * itself is the document. For display only.
   */
  readonly member: readonly string[];
} & (
  | { readonly kind: 'report'; readonly report: AggregateReport }
  /** A report that cannot be read, or a source without one. */
  | { readonly kind: 'rejected'; readonly refusal: Refusal }
  /** Something beside a report that is clearly not a report. */
  | { readonly kind: 'ignored'; readonly refusal: Refusal }
);

/**
 * Every document in a source, in order, at least one. Never throws because of the bytes' content, and one bad
 * document never stops the rest. Only the bytes decide what a document is. `now` is in milliseconds.
 */
export async function* readDocuments(
  { bytes }: Source,
  now: () => number = Date.now,
  budget = new Budget(bytes.length),
): AsyncGenerator<IntakeDocument> {
  const outside: Spot = {
    member: [],
    depth: 0,
    isQuiet: false,
    log: new WarningLog(),
    budget,
    now,
  };
  for await (const finding of open(toContent(bytes), outside)) yield toDocument(finding);
}

function toDocument(finding: Finding): IntakeDocument {
  if (finding.kind !== 'nothing') return finding;
  return { kind: 'rejected', member: finding.member, refusal: finding.refusal };
}
