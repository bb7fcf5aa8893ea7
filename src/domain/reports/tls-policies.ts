import { toCut } from '../incoming.ts';
import type { ListedPolicy, PolicyType, TlsPolicy } from './tls-report.ts';

/** A report has one policy, or two. What a list shows of it is bounded: 200 reports are a page. */
const MAX_CHARS = 8_000;
const MAX_HOSTS = 20;
const MAX_NAME = 255;

/** In the order of the report; of too many those with the most sessions, at least one. */
export function listPolicies(policies: readonly TlsPolicy[]): readonly ListedPolicy[] {
  const all = policies.map(toListed);
  let room = MAX_CHARS;
  const sessionsOf = (one: ListedPolicy) => one.successful_sessions + one.failed_sessions;
  const largest = all.toSorted((a, b) => sessionsOf(b) - sessionsOf(a));
  const kept = new Set(
    largest.filter((one, i) => {
      room -= JSON.stringify(one).length;
      return i === 0 || room > 0;
    }),
  );
  return all.filter((one) => kept.has(one));
}

const toListed = ({ type, domain, mode, mxHosts, ...counts }: TlsPolicy): ListedPolicy => ({
  policy_type: type === null ? null : (toCut(type, MAX_NAME) as PolicyType),
  policy_domain: domain && toCut(domain, MAX_NAME),
  mode,
  mx_hosts: mxHosts.slice(0, MAX_HOSTS).map((host) => toCut(host, MAX_NAME)),
  successful_sessions: counts.successes,
  failed_sessions: counts.failures,
});
