import type { AggregateReport } from '../domain/reports/aggregate-report.ts';
import type { Refusal } from '../domain/reports/refusal.ts';
import { Budget } from './budget.ts';
import type { Finding } from './containers/finding.ts';
import { open, type Spot } from './containers/open.ts';
import { toContent } from './content.ts';
import type { RequestedContent, RequestedReport } from './report/requested.ts';
import { WarningLog } from './warnings.ts';

/** The bytes of one file or of standard input. */
export interface Input {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Of the bytes, in hex, when it is known already. */
  readonly sha256?: string;
}

export type IntakeDocument = {
  /**
   * Where inside the input: names of members, outermost first (`['report.xml.gz']`); empty when the input
   * itself is the document. For display only.
   */
  readonly member: readonly string[];
} & (
  | { readonly kind: 'report'; readonly report: AggregateReport; readonly found?: RequestedContent }
  /** A report that cannot be read, or an input without one. */
  | { readonly kind: 'rejected'; readonly refusal: Refusal }
  /** Something beside a report that is clearly not a report. */
  | { readonly kind: 'ignored'; readonly refusal: Refusal }
);

interface ReadOptions {
  readonly budget?: Budget;
  /** Of all reports only this one, as the last document; none when it is not in the input. */
  readonly wanted?: RequestedReport | undefined;
}

/**
 * Every document in an input, in order, at least one. Never throws because of the bytes' content, and one bad
 * document never stops the rest. Only the bytes decide what a document is. `now` is in milliseconds.
 */
export async function* readDocuments(
  { bytes }: Input,
  now: () => number = Date.now,
  { budget = new Budget(bytes.length), wanted }: ReadOptions = {},
): AsyncGenerator<IntakeDocument> {
  const outside: Spot = {
    member: [],
    depth: 0,
    isQuiet: false,
    log: new WarningLog(),
    budget,
    now,
    wanted,
  };
  for await (const finding of open(toContent(bytes), outside)) {
    const isFound = finding.kind === 'report' && finding.found !== undefined;
    if (wanted === undefined || isFound || finding.kind !== 'report') yield toDocument(finding);
    if (isFound) return;
  }
}

function toDocument(finding: Finding): IntakeDocument {
  if (finding.kind !== 'nothing') return finding;
  return { kind: 'rejected', member: finding.member, refusal: finding.refusal };
}
