import type { Original } from '../domain/reports/original.ts';
import type { Refusal } from '../domain/reports/refusal.ts';
import type { Report } from '../domain/reports/report.ts';
import { estimateBytes } from './budget.ts';

/** The part of the input in which a document came. */
export interface Kept {
  /** The numbers of the parts that lead to it, `2.1`; empty for the whole input. */
  readonly path: string;
  /** What is kept of it. Absent: the whole input; null: nothing, because it was not read to its end or is too much. */
  readonly original?: Original | null | undefined;
}

export type IntakeDocument = {
  /** Members, outermost first (`['report.xml.gz']`), only to be shown; empty when the input is the document. */
  readonly member: readonly string[];
} & (
  | (Kept & { readonly kind: 'report'; readonly report: Report })
  /** A report that cannot be read, or an input without one. */
  | (Kept & { readonly kind: 'rejected'; readonly refusal: Refusal })
  /** Something beside a report that is clearly not a report. */
  | { readonly kind: 'ignored'; readonly refusal: Refusal }
);

/** The document of an input that could not be read. */
export function toRejected(refusal: Refusal): IntakeDocument {
  return { kind: 'rejected', member: [], path: '', refusal };
}

/** The bytes that it takes in memory and in the database, without those of the whole input. */
export function estimateSize(document: IntakeDocument): number {
  if (document.kind === 'ignored') return estimateBytes();
  const report = document.kind === 'report' ? document.report : undefined;
  return estimateBytes(report) + (document.original?.content.length ?? 0);
}
