import { findWeakerTag, toPolicies, toRecordName } from '../dns/dns-record.ts';
import type { DnsChange } from '../dns/dns-watch.ts';
import type { AlertContext } from './context.ts';
import { type DnsFacts, explainRecord, mayBeOpen } from './dns-record-changed.ts';
import { type AlertRule, findOpen, type Occurrence } from './rule.ts';

const TYPE = 'alert.policy_weakened';

/** The DMARC policy became weaker. The alert lasts until the former strength is back. */
export const policyWeakened: AlertRule<typeof TYPE, DnsFacts> = {
  type: TYPE,
  findOccurrences: (facts, thresholds) => {
    const change = facts.dns.dmarc?.weakening ?? null;
    const isKnown = findOpen(facts, TYPE, '') !== undefined;
    if (change === null || !mayBeOpen(change, isKnown, facts, thresholds)) return [];
    return [toOccurrence(change, facts)];
  },
  findEnding: (_alert, { dns }) => (dns.dmarc?.weakening == null ? 'recovered' : undefined),
  explain: (facts, thresholds) => {
    const change = facts.dns.dmarc?.weakening ?? null;
    if (change === null)
      return ['Not open: no weakening was seen.', explainRecord('dmarc', facts, thresholds)];
    const { tag, previous_policy, current_policy } = toOccurrence(change, facts).context;
    const isOpen = findOpen(facts, TYPE, '') !== undefined;
    return [
      `${isOpen ? 'Open' : 'Not open'}: ${tag} was ${previous_policy}, and is ${current_policy} since ${change.at}.`,
      `It resolves when ${tag} is ${previous_policy} again, or stronger.`,
    ];
  },
  title: 'Policy weakened',
  describe: describePolicy,
  advice: 'The DMARC policy became weaker: make sure that this was meant.',
  urgency: 5,
  link: 'alert',
  isLasting: false,
};

function toOccurrence(
  { former, current, held = { former, current } }: DnsChange,
  { domain }: DnsFacts,
): Occurrence {
  const tag = findWeakerTag(held.former, held.current) ?? 'p';
  const context = {
    record_name: toRecordName('dmarc', domain),
    tag,
    previous_policy: toPolicies(held.former)[tag],
    current_policy: toPolicies(held.current)[tag],
    previous_value: former,
    current_value: current,
  };
  return { subject: '', ending: null, context };
}

function describePolicy(context: AlertContext): string {
  const [before, after] = [context['previous_policy'], context['current_policy']];
  return `The policy at ${context['record_name']} went from ${before} to ${after ?? 'absent'}.`;
}
