import { Refusal, type RefusalReason } from '../../domain/reports/refusal.ts';
import type { IntakeDocument } from '../intake-document.ts';

/** Not a report and not intended as one. Whether this is rejected or ignored depends on the other findings. */
interface Nothing {
  readonly kind: 'nothing';
  readonly member: readonly string[];
  readonly refusal: Refusal;
  /** Part of a mail's own text or layout: it is not mentioned beside a report. */
  readonly isQuiet: boolean;
}

export type ContentFinding = IntakeDocument | Nothing;

/** At most this many are remembered until a report is found. Further ones are not reported. */
const MAX_NOTHINGS = 1_000;

/** Reasons of what was not intended as a report. */
export const NOTHING: ReadonlySet<RefusalReason> = new Set(['empty', 'no_report', 'not_aggregate']);

export function toFinding(
  refusal: Refusal,
  { member, isQuiet }: Pick<Nothing, 'member' | 'isQuiet'>,
): ContentFinding {
  // A mail's own text may quote another mail's header, at a depth where a mail would be too deep.
  const isQuote = isQuiet && refusal.reason === 'too_deep';
  if (isQuote || NOTHING.has(refusal.reason)) return { kind: 'nothing', member, refusal, isQuiet };
  return { kind: 'rejected', member, path: '', refusal };
}

/** Beside a report, what is not one is ignored. A container without a report is one `nothing`, with one reason. */
export async function* settle(
  findings: AsyncIterable<ContentFinding>,
  container: Pick<Nothing, 'member' | 'isQuiet'>,
): AsyncGenerator<ContentFinding> {
  const nothings: Nothing[] = [];
  let isFound = false;
  for await (const finding of findings) {
    if (finding.kind !== 'nothing') {
      if (!isFound) yield* ignore(nothings);
      isFound = true;
      yield finding;
    } else if (isFound) yield* ignore([finding]);
    else if (nothings.length < MAX_NOTHINGS) nothings.push(finding);
  }
  if (!isFound) yield toFinding(summarise(nothings), container);
}

function* ignore(nothings: readonly Nothing[]): Generator<ContentFinding> {
  for (const { member, refusal, isQuiet } of nothings)
    if (!isQuiet) yield { kind: 'ignored', member, refusal };
}

function summarise(nothings: readonly Nothing[]): Refusal {
  const refusals = nothings.filter(({ isQuiet }) => !isQuiet).map(({ refusal }) => refusal);
  const other = refusals.find(({ reason }) => reason === 'not_aggregate');
  const only = refusals.length === 1 ? refusals[0] : undefined;
  return other ?? only ?? nothingAmong(refusals);
}

function nothingAmong(refusals: readonly Refusal[]): Refusal {
  const isEmpty = refusals.length > 0 && refusals.every(({ reason }) => reason === 'empty');
  if (isEmpty) return new Refusal('empty', 'There is nothing in it.');
  return new Refusal('no_report', 'There is no report in it.');
}
