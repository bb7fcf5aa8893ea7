import type { ReportRecord } from './aggregate-report.ts';

/*
 * A record as it is stored: the text of a JSON array, whose lists and texts are cut. While a large report is read, its
 * records are held as texts, because their values would keep the document's pieces in memory.
 */

/** A record whose lists and texts are cut. */
export interface KeptRecord extends ReportRecord {
  /** Authentication results and reasons that are left out. */
  readonly omitted: number;
}

type Text = string | null;
/** 0 for what a value usually is. */
type ShortValues = readonly (Text | 0)[];

/** What an entry of a list usually says. Its domain is that of the record which makes it count. */
const usualReason = [null, null] as const;
const usualDkim = (headerFrom: Text) => [headerFrom, null, 'pass', null] as const;
const usualSpf = (envelopeFrom: Text) => [envelopeFrom, 'mfrom', 'pass', null] as const;

export type RecordValues = readonly [
  sourceIp: Text,
  count: number,
  disposition: Text,
  dkimEvaluated: Text,
  spfEvaluated: Text,
  headerFrom: Text,
  envelopeFrom: Text,
  envelopeTo: Text,
  /** Type and comment. */
  reasons: readonly ShortValues[],
  /** Domain, selector or scope, result, and the result in words for people. */
  dkim: readonly ShortValues[],
  spf: readonly ShortValues[],
  omitted?: number,
];

/** What is kept of one record: entries of each list, characters of a name, and characters of a text by a person. */
const MAX_ENTRIES = 10;
const MAX_NAME = 255;
const MAX_TEXT = 300;

export function toRecordValues(record: ReportRecord): RecordValues {
  const { policyEvaluated, identifiers, authResults } = record;
  const { reasons } = policyEvaluated;
  const { dkim, spf } = authResults;
  const [headerFrom, envelopeFrom] = [cut(identifiers.headerFrom), cut(identifiers.envelopeFrom)];
  const values = [
    record.sourceIp,
    record.count,
    cut(policyEvaluated.disposition),
    cut(policyEvaluated.dkim),
    cut(policyEvaluated.spf),
    headerFrom,
    envelopeFrom,
    cut(identifiers.envelopeTo),
    first(reasons).map(({ type, comment }) =>
      shorten([cut(type), cut(comment, MAX_TEXT)], usualReason),
    ),
    first(dkim).map(({ domain, selector, result, humanResult }) =>
      shorten(
        [cut(domain), cut(selector), cut(result), cut(humanResult, MAX_TEXT)],
        usualDkim(headerFrom),
      ),
    ),
    first(spf).map(({ domain, scope, result, humanResult }) =>
      shorten(
        [cut(domain), cut(scope), cut(result), cut(humanResult, MAX_TEXT)],
        usualSpf(envelopeFrom),
      ),
    ),
  ] as const;
  const omitted = countOmitted(reasons) + countOmitted(dkim) + countOmitted(spf);
  return omitted === 0 ? values : [...values, omitted];
}

/** What is usual at the end is left out. */
function shorten(values: readonly Text[], usual: readonly Text[]): ShortValues {
  let { length } = values;
  while (length > 0 && values[length - 1] === usual[length - 1]) length -= 1;
  return values.slice(0, length).map((value, i) => (value === usual[i] ? 0 : value));
}

function lengthen<Usual extends readonly Text[]>(values: ShortValues, usual: Usual) {
  const long = usual.map((one, i) =>
    values[i] === undefined || values[i] === 0 ? one : values[i],
  );
  return long as unknown as { readonly [I in keyof Usual]: Text };
}

function first<T>(list: readonly T[]): readonly T[] {
  return list.length <= MAX_ENTRIES ? list : list.slice(0, MAX_ENTRIES);
}

function countOmitted({ length }: readonly unknown[]): number {
  return Math.max(0, length - MAX_ENTRIES);
}

function cut(text: Text, maxChars = MAX_NAME): Text {
  if (text === null || text.length <= maxChars) return text;
  return `${text.slice(0, maxChars - 1).toWellFormed()}…`;
}

export function toKeptRecord(values: RecordValues): KeptRecord {
  const [sourceIp, count, disposition, dkim, spf, headerFrom, envelopeFrom, envelopeTo] = values;
  const [, , , , , , , , reasons, dkimResults, spfResults, omitted = 0] = values;
  return {
    sourceIp,
    count,
    policyEvaluated: {
      disposition,
      dkim,
      spf,
      reasons: reasons.map((one) => {
        const [type, comment] = lengthen(one, usualReason);
        return { type, comment };
      }),
    },
    identifiers: { headerFrom, envelopeFrom, envelopeTo },
    authResults: {
      dkim: dkimResults.map((one) => {
        const [domain, selector, result, humanResult] = lengthen(one, usualDkim(headerFrom));
        return { domain, selector, result, humanResult };
      }),
      spf: spfResults.map((one) => {
        const [domain, scope, result, humanResult] = lengthen(one, usualSpf(envelopeFrom));
        return { domain, scope, result, humanResult };
      }),
    },
    omitted,
  };
}
