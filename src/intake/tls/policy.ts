import {
  findMode,
  POLICY_TYPES,
  RESULT_TYPES,
  type TlsFailure,
  type TlsPolicy,
} from '../../domain/reports/tls-report.ts';
import type { Json, JsonObject } from '../document/json.ts';
import { MAX_LIST_LENGTH, MAX_TEXT_CHARS } from '../limits.ts';
import type { WarningLog } from '../warnings.ts';
import { isObject, member, toAddress, toCount, toObjects, toText, toTexts } from './values.ts';

/** The object that describes the policy: some reporters have no inner one. */
export const toInner = (entry: JsonObject): JsonObject => {
  const inner = member(entry, 'policy');
  return isObject(inner) ? inner : entry;
};

/** The type in lower case when it is a known one. */
export function toPolicyType(entry: JsonObject, log: WarningLog): string | null {
  const text = toText(member(toInner(entry), 'policy-type'), log);
  const word = text?.toLowerCase() ?? null;
  return word !== null && POLICY_TYPES.has(word) ? word : text;
}

/** An entry of `policies`. Throws `bad_field`. */
export function toTlsPolicy(
  entry: JsonObject,
  { domain, type }: Pick<TlsPolicy, 'domain' | 'type'>,
  log: WarningLog,
): TlsPolicy {
  const inner = toInner(entry);
  if (inner === entry) log.add('flat_policy');
  if (type === null) log.add('missing_policy_type');
  else if (!POLICY_TYPES.has(type)) log.add('unknown_policy_type');
  const text = toTexts(member(inner, 'policy-string'), log, MAX_TEXT_CHARS);
  const hosts = member(inner, 'mx-host') ?? member(inner, 'mx-host-pattern');
  const mxHosts = toTexts(hosts, log).map((host) => host.toLowerCase());
  if (mxHosts.length > MAX_LIST_LENGTH) log.add('long_list');
  return {
    type,
    domain,
    mode: type === 'sts' ? findMode(text) : null,
    mxHosts: mxHosts.slice(0, MAX_LIST_LENGTH),
    ...toCounts(entry, log),
  };
}

type Counts = Pick<TlsPolicy, 'successes' | 'failures' | 'details'>;

function toCounts(entry: JsonObject, log: WarningLog): Counts {
  const summary = member(entry, 'summary');
  const isStated = isObject(summary);
  if (!isStated) log.add('missing_summary');
  const count = (name: string) => (isStated ? toCount(member(summary, name), log) : undefined);
  const successes = count('total-successful-session-count') ?? 0;
  const stated = count('total-failure-session-count');
  const details = toDetails(member(entry, 'failure-details'), stated, log);
  const sum = details.reduce((all, { sessions }) => all + sessions, 0);
  if (stated === 0 && sum > 0) log.add('counts_differ');
  if ((stated ?? 0) > 0 && details.length === 0) log.add('failures_without_details');
  return { successes, failures: stated || sum, details };
}

function toDetails(
  value: Json | undefined,
  stated: number | undefined,
  log: WarningLog,
): readonly TlsFailure[] {
  const entries = toObjects(value, log);
  const usual = entries.length === 1 ? (stated ?? 1) : 1;
  return entries.map((entry) => toFailure(entry, usual, log));
}

/** An entry of `failure-details`. Without a count it has the usual one. */
function toFailure(entry: JsonObject, usual: number, log: WarningLog): TlsFailure {
  const text = (name: string) => toText(member(entry, name), log);
  return {
    resultType: toResultType(text('result-type'), log),
    sessions: toCount(member(entry, 'failed-session-count'), log) ?? usual,
    sendingIp: toAddress(member(entry, 'sending-mta-ip'), log),
    mxHost: text('receiving-mx-hostname')?.toLowerCase() ?? null,
    mxHelo: text('receiving-mx-helo'),
    receivingIp: toAddress(member(entry, 'receiving-ip'), log),
    reasonCode: toText(member(entry, 'failure-reason-code'), log, MAX_TEXT_CHARS),
    information: toInformation(member(entry, 'additional-information'), log),
  };
}

function toResultType(text: string | null, log: WarningLog): string {
  if (text === null) log.add('missing_result_type');
  const type = text?.toLowerCase().replaceAll('_', '-') ?? 'unknown';
  if (text === null || RESULT_TYPES.has(type)) return type;
  log.add('unknown_result_type');
  return text;
}

function toInformation(value: Json | undefined, log: WarningLog): string | null {
  const isNested = typeof value === 'object' && value !== null;
  return toText(isNested ? JSON.stringify(value) : value, log, MAX_TEXT_CHARS);
}
