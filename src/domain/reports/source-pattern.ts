import type { Results } from '../sources/evidence.ts';
import type { DkimAuthResult, PolicyEvaluated, ReportRecord } from './aggregate-report.ts';

/*
 * What a record says of its messages besides sender and number: the results that show why they passed or failed. Many
 * records say the same, so it is kept as one text, its pattern.
 */

/** A record may have many signatures. More than this say nothing new. */
const MAX_DKIM = 4;
/** Characters of a name: names of the DNS have at most 253. */
const MAX_NAME = 255;
/** Characters of a result or a disposition: the longest word of the standards has 10. */
const MAX_WORD = 32;

/** Reasons of a receiver to override a policy that say that somebody passed the message on (RFC 7489, appendix C). */
const FORWARDED = /^(?:forwarded|trusted_forwarder|mailing_list)$/i;
/** So does a chain of seals that is valid: the comment of `local_policy` begins with it (RFC 8617, section 7.2.2). */
const SEALED = /^\s*arc=pass\b/i;

const NO_SPF = { domain: null, result: null };

function firstDkim(results: readonly DkimAuthResult[]): readonly DkimAuthResult[] {
  if (results.length < 2) return results;
  const passed = results.filter(({ result }) => result === 'pass');
  const others = results.filter(({ result }) => result !== 'pass');
  return [...passed, ...others].slice(0, MAX_DKIM);
}

function tellsForwarding({ type, comment }: PolicyEvaluated['reasons'][number]): boolean {
  if (type === null) return false;
  return (
    FORWARDED.test(type) || (type.toLowerCase() === 'local_policy' && SEALED.test(comment ?? ''))
  );
}

/** What the second value of a pattern says. */
const BITS = { spf: 1, forwarded: 2 } as const;

/** The pattern of a record, as it is stored: JSON, the same for the same values. */
export function toPattern(
  record: Pick<ReportRecord, 'identifiers' | 'policyEvaluated' | 'authResults'>,
): string {
  const { identifiers, policyEvaluated, authResults } = record;
  const { dkim, spf, disposition, reasons } = policyEvaluated;
  const isForwarded = reasons.some(tellsForwarding);
  // DMARC uses the result for MAIL FROM, never the one for HELO (RFC 7489, section 3.1.2).
  const { domain, result } = authResults.spf.find(({ scope }) => scope !== 'helo') ?? NO_SPF;
  const values = [
    toName(identifiers.headerFrom),
    (spf === 'pass' ? BITS.spf : 0) + (isForwarded ? BITS.forwarded : 0),
    dkim === 'pass' ? 1 : 0,
    toWord(disposition),
    toName(domain),
    toWord(result),
  ];
  for (const { domain, selector, result } of firstDkim(authResults.dkim))
    values.push(toName(domain), toName(selector), toWord(result));
  return JSON.stringify(values);
}

/** Names of domains and selectors are the same in either case. */
function toName(name: string | null): string | null {
  return name === null ? null : cut(name.toLowerCase(), MAX_NAME);
}

function toWord(word: string | null): string | null {
  return word === null ? null : cut(word, MAX_WORD);
}

function cut(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : text.slice(0, maxChars).toWellFormed();
}

/** Whether messages of the pattern passed DMARC. */
export function passesPattern(text: string): boolean {
  const { spf, isDkimAligned } = parsePattern(text);
  return isDkimAligned || spf.isAligned;
}

/** The values of a pattern's text. */
export function parsePattern(text: string): Omit<Results, 'messages' | 'aligned'> {
  const [headerFrom, bits, isDkim, disposition, domain, result, ...rest] = JSON.parse(text);
  const dkim = Array.from({ length: rest.length / 3 }, (_, i) => ({
    domain: rest[i * 3],
    selector: rest[i * 3 + 1],
    result: rest[i * 3 + 2],
  }));
  const spf = { domain, result, isAligned: (bits & BITS.spf) !== 0 };
  const isForwarded = (bits & BITS.forwarded) !== 0;
  return { headerFrom, spf, dkim, isDkimAligned: isDkim === 1, disposition, isForwarded };
}
