import { NOTHING, Refusal, type RefusalReason } from '../../domain/reports/refusal.ts';
import type { IntakeDocument } from '../intake-document.ts';

/** Not a report and not intended as one. Whether this is rejected or ignored depends on the other findings. */
interface Nothing {
  readonly kind: 'nothing';
  readonly member: readonly string[];
  readonly refusal: Refusal;
  /** Part of a mail's own text or layout: it is not mentioned beside a report. */
  readonly isQuiet: boolean;
  /** The subject of its mail says that it is a report. */
  readonly isExpected?: boolean | undefined;
  /** What is wrong with XML or JSON that nothing but the mail says to be a report. */
  readonly broken?: Refusal | undefined;
}

type Place = Pick<Nothing, 'member' | 'isQuiet' | 'isExpected'>;

export type ContentFinding = IntakeDocument | Nothing;

/** At most this many are remembered until a report is found. Further ones are not reported. */
const MAX_NOTHINGS = 1_000;

/** Archives of people are damaged, encrypted, or within others. */
const OF_ARCHIVES: ReadonlySet<RefusalReason> = new Set(['bad_archive', 'too_deep']);
/** Without an extension, with one that says nothing, or with one of what may hold a report. */
const MAY_BE_REPORT = /^[^.]*$|!|\.(?:xml|g?zip|gz|tgz|tar|eml|bin|dat)$/i;
const REPORT_NAME = /^[^!]*!([^!]+)!\d+!\d+/;

/** Whether a file name is that of a report (RFC 7489, 7.2.1.1). */
export const isReportName = (name: string): boolean => REPORT_NAME.test(name);

/** The domain that the name of a report says it is about. */
export const toNamedDomain = (name: string): string | undefined => REPORT_NAME.exec(name)?.[1];

export function toFinding(
  refusal: Refusal,
  { member, isQuiet, isExpected }: Place,
): ContentFinding {
  const { reason, message, where } = refusal;
  const nothing = { kind: 'nothing', member, isQuiet, isExpected } as const;
  if (NOTHING.has(reason)) return { ...nothing, refusal };
  // A mail's own text may begin like an archive, or quote another mail's header where a mail would be too deep.
  const isNothing = isQuiet || !MAY_BE_REPORT.test(member.at(-1) ?? '');
  if (isNothing && OF_ARCHIVES.has(reason))
    return { ...nothing, refusal: new Refusal('no_report', message, where) };
  return { kind: 'rejected', member, path: '', refusal };
}

/** Beside a report, what is not one is ignored. A container without a report is one `nothing`, with one reason. */
export async function* settle(
  findings: AsyncIterable<ContentFinding>,
  container: Place & { readonly isMail: boolean },
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
  if (!isFound) yield toFinding(summarise(nothings, container), container);
}

function* ignore(nothings: readonly Nothing[]): Generator<ContentFinding> {
  for (const { member, refusal, isQuiet } of nothings)
    if (!isQuiet) yield { kind: 'ignored', member, refusal };
}

function summarise(
  nothings: readonly Nothing[],
  { isMail }: { readonly isMail: boolean },
): Refusal {
  const loud = nothings.filter(({ isQuiet }) => !isQuiet);
  const refusals = loud.map(({ refusal }) => refusal);
  const other = refusals.find(({ reason }) => reason === 'not_aggregate');
  const only = refusals.length === 1 ? refusals[0] : undefined;
  const summary = other ?? only ?? nothingAmong(refusals);
  const isExpected = nothings.some(
    (one) => one.isExpected || isReportName(one.member.at(-1) ?? ''),
  );
  if (!isMail || !isExpected || refusals.includes(REFUSALS.failure_report)) return summary;
  const broken = loud.find((one) => one.broken)?.broken;
  return broken ?? new Refusal('none_found', `It looks like a report. ${summary.message}`);
}

function nothingAmong(refusals: readonly Refusal[]): Refusal {
  const isEmpty = refusals.length > 0 && refusals.every(({ reason }) => reason === 'empty');
  if (isEmpty) return new Refusal('empty', 'There is nothing in it.');
  return new Refusal('no_report', 'There is no report in it.');
}

/** Made once, because the stack of an error costs more than all other work for an empty member. */
export const REFUSALS = {
  empty: new Refusal('empty', 'There is nothing in it.'),
  html: new Refusal('not_aggregate', 'The root element is <html>.'),
  broken: new Refusal(
    'no_report',
    'It is no well-formed XML or JSON, and nothing says that it is a report.',
  ),
  encrypted: new Refusal('no_report', 'It is encrypted (S/MIME): only its recipient can read it.'),
  failure_report: new Refusal('not_aggregate', 'failure_report: about one message (ARF).'),
  other: new Refusal('no_report', 'This is neither XML nor JSON nor anything that could hold it.'),
};
