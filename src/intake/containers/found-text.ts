import { basename } from 'node:path';
import { Refusal, type RefusalReason } from '../../domain/reports/refusal.ts';
import { estimateStored } from '../budget.ts';
import { type Content, skip } from '../content.ts';
import { decodeUnicode } from '../document/xml-text.ts';
import type { Kept } from '../intake-document.ts';
import { readFeedback } from '../report/feedback.ts';
import { hasTlsKeys, readTls } from '../tls/read-tls.ts';
import { type ContentFinding, isReportName, REFUSALS, toNamedDomain } from './finding.ts';
import type { Inherited } from './member.ts';
import { InputPart } from './part.ts';

/* The text of a document becomes a report, is one that is broken, or is none. */

export interface Context extends Inherited {
  readonly nowMs: number;
  /** A mail of which it is known who sent it (verification/check.ts), read as that found it: from its first byte to its last. */
  readonly isVerified?: boolean | undefined;
  /** The path of the file that is the whole input. */
  readonly name?: string | undefined;
  readonly member: readonly string[];
  readonly depth: number;
  /** Part of a mail's own text or layout. */
  readonly isQuiet: boolean;
  readonly charset?: string | undefined;
  /** In a mail that is the whole input. */
  readonly isMailed?: boolean | undefined;
  /** The subject of the innermost mail says that it is a report. */
  readonly isExpected?: boolean | undefined;
  readonly isTls?: boolean | undefined;
  readonly tlsDomain?: string | null | undefined;
  /** The innermost part that is being read; undefined for the whole input. */
  readonly part?: InputPart | undefined;
}

/** What people send may be XML as well, but has none of these elements, escaped or not. */
const EVIDENCE = /(?:<|&lt;)\/?(?:[\w.-]+:)?feedback(?![\w.:-])|report_metadata/;

export function isEvident(head: Uint8Array, context: Context): boolean {
  const { isQuiet, isTls } = context;
  if (isTls || toNames(context).some(isReportName)) return true;
  return EVIDENCE.test(decodeUnicode(head)) || (!isQuiet && hasTlsKeys(head));
}

/** The names of all that is around, innermost last. */
const toNames = ({ name = '', member }: Context) => [basename(name), ...member];

/** Of a larger container with a smaller report, the report alone is kept: a gzip may have megabytes around it. */
const MAX_AROUND_BYTES = 64 * 1024;

export async function readXmlReport(
  content: Content,
  { head, start }: { readonly head: Uint8Array; readonly start: number },
  context: Context,
): Promise<ContentFinding> {
  const around = context.part?.size ?? context.budget.inputBytes;
  const isLoose = context.depth > 0 && around > MAX_AROUND_BYTES;
  const part = isLoose ? new InputPart(context.part?.path ?? '', around - 1) : context.part;
  try {
    const report = await readFeedback(skip(part?.watch(content) ?? content, start), context);
    const isInside = part !== undefined && part.size > 0;
    return {
      kind: 'report',
      member: context.member,
      report,
      ...toKept(isInside ? { ...context, part } : context),
    };
  } catch (error) {
    await part?.readOn();
    // A person's text may quote a piece of a report.
    if (!isBroken(error) || (start === 0 && isEvident(head, context))) throw error;
    return toNothing(context, { refusal: REFUSALS.broken, broken: error });
  }
}

function toNothing(
  { member, isQuiet, isExpected }: Context,
  why: { readonly refusal: Refusal; readonly broken?: Refusal },
): ContentFinding {
  return { kind: 'nothing', member, isQuiet, isExpected, ...why };
}

/** Each TLS report of a text. All but the first have a place of their own, so that each goes without the others. */
export async function* readTlsReports(
  content: Content,
  head: Uint8Array,
  context: Context,
): AsyncGenerator<ContentFinding> {
  const { part, member, tlsDomain, budget } = context;
  const named = toNames(context).map(toNamedDomain).findLast(Boolean);
  const hint = tlsDomain === undefined ? named : (tlsDomain ?? undefined);
  try {
    const reports = await readTls(part?.watch(content) ?? content, { ...context, hint });
    for (const [i, report] of reports.entries()) {
      budget.keep(estimateStored(report));
      const { path, ...kept } = toKept(context);
      yield { kind: 'report', member, report, ...kept, path: i === 0 ? path : `${path}+${i}` };
    }
  } catch (error) {
    await part?.readOn();
    const isOther = error instanceof Refusal && OF_JSON.has(error.reason) && !budget.isSpent;
    if (!isOther || isEvident(head, context)) throw error;
    yield toNothing(context, { refusal: REFUSALS.broken, broken: error });
  }
}

/** What of JSON that is no report is wrong as well. */
const OF_JSON: ReadonlySet<RefusalReason> = new Set(['bad_json', 'too_large']);

const isBroken = (error: unknown): error is Refusal =>
  error instanceof Refusal && ['bad_xml', 'doctype_forbidden'].includes(error.reason);

export function toKept({ part, budget }: Context, maxBytes = Number.POSITIVE_INFINITY): Kept {
  if (part === undefined) return { path: '' };
  return { path: part.path, original: part.pack(budget, maxBytes) };
}
