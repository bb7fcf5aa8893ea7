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
type Result = readonly [Text, Text, Text, Text];

export type RecordValues = readonly [
  sourceIp: Text,
  count: number,
  disposition: Text,
  dkimEvaluated: Text,
  spfEvaluated: Text,
  headerFrom: Text,
  envelopeFrom: Text,
  envelopeTo: Text,
  reasons: readonly (readonly [type: Text, comment: Text])[],
  dkim: readonly Result[],
  spf: readonly Result[],
  omitted: number,
];

/** What is kept of one record: entries of each list, characters of a name, and characters of a text by a person. */
const MAX_ENTRIES = 10;
const MAX_NAME = 255;
const MAX_TEXT = 300;

export function toRecordValues(record: ReportRecord): RecordValues {
  const { policyEvaluated, identifiers, authResults } = record;
  const { reasons } = policyEvaluated;
  const { dkim, spf } = authResults;
  return [
    record.sourceIp,
    record.count,
    cut(policyEvaluated.disposition),
    cut(policyEvaluated.dkim),
    cut(policyEvaluated.spf),
    cut(identifiers.headerFrom),
    cut(identifiers.envelopeFrom),
    cut(identifiers.envelopeTo),
    first(reasons).map(({ type, comment }) => [cut(type), cut(comment, MAX_TEXT)]),
    first(dkim).map(({ domain, selector, result, humanResult }) => [
      ...([cut(domain), cut(selector), cut(result), cut(humanResult, MAX_TEXT)] as const),
    ]),
    first(spf).map(({ domain, scope, result, humanResult }) => [
      ...([cut(domain), cut(scope), cut(result), cut(humanResult, MAX_TEXT)] as const),
    ]),
    countOmitted(reasons) + countOmitted(dkim) + countOmitted(spf),
  ];
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

/** Most records of a report say the same of other addresses: what they say is parsed once, and is the same object. */
export function parseRecordTexts(texts: readonly string[]): KeptRecord[] {
  const parsed = new Map<string, KeptRecord>();
  return texts.map((text) => {
    const end = text.indexOf(',', text.indexOf(',') + 1);
    const results = text.slice(end);
    const alike = parsed.get(results) ?? toRecord(JSON.parse(text));
    parsed.set(results, alike);
    const [sourceIp, count] = JSON.parse(`${text.slice(0, end)}]`) as [Text, number];
    return { ...alike, sourceIp, count };
  });
}

export function toRecord(values: RecordValues): KeptRecord {
  const [sourceIp, count, disposition, dkim, spf, headerFrom, envelopeFrom, envelopeTo] = values;
  const [, , , , , , , , reasons, dkimResults, spfResults, omitted] = values;
  return {
    sourceIp,
    count,
    policyEvaluated: {
      ...{ disposition, dkim, spf },
      reasons: reasons.map(([type, comment]) => ({ type, comment })),
    },
    identifiers: { headerFrom, envelopeFrom, envelopeTo },
    authResults: {
      dkim: dkimResults.map(([domain, selector, result, humanResult]) => {
        return { domain, selector, result, humanResult };
      }),
      spf: spfResults.map(([domain, scope, result, humanResult]) => {
        return { domain, scope, result, humanResult };
      }),
    },
    omitted,
  };
}
