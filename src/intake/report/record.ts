import { parseIpAddress } from '../../domain/ip-address.ts';
import type {
  AuthResults,
  Identifiers,
  PolicyEvaluated,
  ReportRecord,
} from '../../domain/reports/aggregate-report.ts';
import type { Element } from '../document/element.ts';

const KNOWN = {
  disposition: new Set(['none', 'quarantine', 'reject', 'pass']),
  evaluated_result: new Set(['pass', 'fail']),
};
const DKIM_RESULTS = new Set('none pass fail policy neutral temperror permerror'.split(' '));
const SPF_RESULTS = new Set([...DKIM_RESULTS, 'softfail']);
/** Results from before the standard, mapped to their present meaning (RFC 7489 appendix C names the last two). */
const OLD_RESULTS: ReadonlyMap<string, string> = new Map([
  ['hardfail', 'fail'],
  ['unknown', 'temperror'],
  ['error', 'permerror'],
]);

/** undefined for a placeholder, which o2.pl and wp.pl send when they saw no mail. */
export function toRecord(record: Element): ReportRecord | undefined {
  const row = record.child('row');
  const identifiers = toIdentifiers(record);
  if (isPlaceholder(row, identifiers)) {
    record.warn('empty_record');
    return undefined;
  }
  if (identifiers.headerFrom === null) record.warn('missing_header_from');
  return {
    sourceIp: toSourceIp(row),
    count: toCount(row),
    policyEvaluated: toPolicyEvaluated(row),
    identifiers,
    authResults: toAuthResults(record.child('auth_results')),
  };
}

function isPlaceholder(row: Element, { headerFrom }: Identifiers): boolean {
  const evaluated = row.child('policy_evaluated');
  const isCounted = !/^0*$/.test(row.value('count') ?? '');
  if (isCounted || headerFrom !== null || row.value('source_ip') !== null) return false;
  return ['disposition', 'dkim', 'spf'].every((name) => evaluated.value(name) === null);
}

function toIdentifiers(record: Element): Identifiers {
  // gcisdns.net writes `identities`.
  const misspelt = record.child('identities');
  const isMisspelt = !misspelt.isAbsent && record.all('identifiers').length === 0;
  if (isMisspelt) misspelt.warn('misspelt_identifiers');
  const identifiers = isMisspelt ? misspelt : record.child('identifiers');
  return {
    headerFrom: identifiers.value('header_from'),
    envelopeFrom: identifiers.value('envelope_from'),
    envelopeTo: identifiers.value('envelope_to'),
  };
}

/** A record with an unreadable source is kept; otherwise the report's totals would be wrong. */
function toSourceIp(row: Element): string | null {
  const text = row.value('source_ip');
  const address = text === null ? null : parseIpAddress(text);
  if (address === undefined) row.child('source_ip').warn('invalid_source_ip');
  if (address === null) row.warn('missing_source_ip');
  return address ?? null;
}

function toCount(row: Element): number {
  const text = row.value('count');
  const element = row.child('count');
  if (text === null || !/^\d+$/.test(text)) {
    element.warn(text === null ? 'missing_count' : 'invalid_count');
    return 0;
  }
  if (Number.isSafeInteger(Number(text))) return Number(text);
  throw element.refusal('bad_field', 'A record counts more messages than there can be.');
}

function toPolicyEvaluated(row: Element): PolicyEvaluated {
  const evaluated = row.child('policy_evaluated');
  if (evaluated.isAbsent) {
    row.warn('missing_policy_evaluated');
    return { disposition: null, dkim: null, spf: null, reasons: [] };
  }
  return {
    disposition: toKnownWord(evaluated, 'disposition', 'disposition'),
    dkim: toKnownWord(evaluated, 'dkim', 'evaluated_result'),
    spf: toKnownWord(evaluated, 'spf', 'evaluated_result'),
    reasons: evaluated.all('reason').map((reason) => ({
      type: reason.word('type') ?? toReasonText(reason),
      comment: reason.value('comment'),
    })),
  };
}

function toReasonText(reason: Element): string | null {
  const text = reason.ownValue();
  if (text !== null) reason.warn('reason_as_text');
  return text?.toLowerCase() ?? null;
}

function toKnownWord(evaluated: Element, name: string, kind: keyof typeof KNOWN): string | null {
  const word = evaluated.word(name);
  if (word === null) evaluated.warn(`missing_${kind}`);
  else if (!KNOWN[kind].has(word)) evaluated.child(name).warn(`unknown_${kind}`);
  return word;
}

/** `auth_results`: every element is optional, and none decides alignment. */
function toAuthResults(results: Element): AuthResults {
  return {
    dkim: results.all('dkim').map((dkim) => ({
      domain: dkim.value('domain'),
      selector: dkim.value('selector'),
      result: toAuthResult(dkim, DKIM_RESULTS),
      humanResult: dkim.value('human_result'),
    })),
    spf: results.all('spf').map((spf) => ({
      domain: spf.value('domain'),
      scope: spf.word('scope'),
      result: toAuthResult(spf, SPF_RESULTS),
      humanResult: spf.value('human_result'),
    })),
  };
}

function toAuthResult(element: Element, known: ReadonlySet<string>): string | null {
  const word = element.word('result');
  if (word === null || known.has(word)) return word;
  const meaning = OLD_RESULTS.get(word);
  if (meaning === undefined) element.child('result').warn('unknown_auth_result');
  return meaning ?? word;
}
