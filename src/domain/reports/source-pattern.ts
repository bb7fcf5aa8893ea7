import type { DkimAuthResult, ReportRecord, SpfAuthResult } from './aggregate-report.ts';

/*
 * What a record says of its messages besides who sent them and how many: the results that a person needs to
 * see why they passed or failed. Many records say the same, so it is kept as one text, its pattern.
 */

/** A pattern as it is shown. `null` means that the reporter left the value out. */
export interface EvaluatedPattern {
  readonly header_from: string | null;
  /** The raw SPF result, and whether it passed and was aligned (policy_evaluated). */
  readonly spf: {
    readonly domain: string | null;
    readonly result: string | null;
    readonly aligned: boolean;
  };
  /** The raw DKIM results: passes first, at most 4. */
  readonly dkim: readonly {
    readonly domain: string | null;
    readonly selector: string | null;
    readonly result: string | null;
  }[];
  /** Whether a DKIM signature passed and was aligned (policy_evaluated). */
  readonly dkim_aligned: boolean;
  readonly disposition: string | null;
}

/** A record may have many signatures. More than this say nothing new. */
const MAX_DKIM = 4;
/** Characters of a name: names of the DNS have at most 253. */
const MAX_NAME = 255;
/** Characters of a result or a disposition: the longest word of the standards has 10. */
const MAX_WORD = 32;

/** A value before it is cut and written as JSON. */
type Value = string | null | undefined;

/** The values of a record's pattern, in the order of `renderPattern`. */
export type PatternValues = readonly Value[];

/** The values of a record that its pattern consists of, as they were sent. */
export function toPatternValues({
  identifiers,
  policyEvaluated,
  authResults,
}: Evaluated): PatternValues {
  const spf = findSpf(authResults.spf);
  const values: Value[] = [
    identifiers.headerFrom,
    policyEvaluated.spf === 'pass' ? '1' : '0',
    policyEvaluated.dkim === 'pass' ? '1' : '0',
    policyEvaluated.disposition,
    spf?.domain,
    spf?.result,
  ];
  for (const { domain, selector, result } of firstDkim(authResults.dkim))
    values.push(domain, selector, result);
  return values;
}

type Evaluated = Pick<ReportRecord, 'identifiers' | 'policyEvaluated' | 'authResults'>;

/** DMARC uses the result for MAIL FROM, never the one for HELO (RFC 7489, section 3.1.2). */
function findSpf(results: readonly SpfAuthResult[]): SpfAuthResult | undefined {
  return results.find(({ scope }) => scope !== 'helo') ?? results[0];
}

function firstDkim(results: readonly DkimAuthResult[]): readonly DkimAuthResult[] {
  if (results.length < 2) return results;
  const passed = results.filter(({ result }) => result === 'pass');
  const others = results.filter(({ result }) => result !== 'pass');
  return [...passed, ...others].slice(0, MAX_DKIM);
}

/** The text that is stored: JSON, the same for the same values. */
export function renderPattern(values: PatternValues): string {
  const [headerFrom, isSpf, isDkim, disposition, domain, result, ...dkim] = values;
  return JSON.stringify([
    toName(headerFrom),
    Number(isSpf),
    Number(isDkim),
    toWord(disposition),
    toName(domain),
    toWord(result),
    ...dkim.map((value, i) => (i % 3 === 2 ? toWord(value) : toName(value))),
  ]);
}

/** Names of domains and selectors are the same in either case. */
function toName(name: Value): string | null {
  return name == null ? null : name.slice(0, MAX_NAME).toWellFormed().toLowerCase();
}

function toWord(word: Value): string | null {
  return word == null ? null : word.slice(0, MAX_WORD).toWellFormed();
}

/** A pattern from its stored text. */
export function parsePattern(text: string): EvaluatedPattern {
  const [header_from, isSpf, isDkim, disposition, domain, result, ...rest] = JSON.parse(text);
  const dkim = Array.from({ length: rest.length / 3 }, (_, i) => ({
    domain: rest[i * 3],
    selector: rest[i * 3 + 1],
    result: rest[i * 3 + 2],
  }));
  const spf = { domain, result, aligned: isSpf === 1 };
  return { header_from, spf, dkim, dkim_aligned: isDkim === 1, disposition };
}

/** Whether the messages of a pattern passed DMARC. */
export function isAligned({ spf, dkim_aligned }: EvaluatedPattern): boolean {
  return spf.aligned || dkim_aligned;
}
