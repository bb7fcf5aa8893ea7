import {
  findPolicyTag,
  findTestTags,
  type Policy,
  type PolicyTag,
  toPolicies,
} from './dns/dns-record.ts';
import type { DomainFacts } from './domain-facts.ts';

/** The policy that the answer is about: one step at a time, but for a domain that sends no mail. */
export function findTarget({ record, sendsNoMail }: DomainFacts): Exclude<Policy, 'absent'> {
  const { p } = toPolicies(record ?? null);
  if (sendsNoMail) return 'reject';
  if (record === undefined) return 'quarantine';
  if (p === 'absent') return 'none';
  if (p === 'none') return 'quarantine';
  return findTestTags(record).length > 0 ? p : 'reject';
}

/** The tag that keeps some mail that fails from being rejected; undefined when all of it is. */
export function findWeakTag({ record }: Pick<DomainFacts, 'record'>): PolicyTag | undefined {
  const policies = toPolicies(record ?? null);
  if (policies.p !== 'reject' || findTestTags(record ?? null).length > 0) return 'p';
  return (['sp', 'np'] as const).find((tag) => policies[tag] !== 'reject');
}

export function policyOf({ record }: DomainFacts, tag: PolicyTag): Policy | null {
  return findPolicyTag(record ?? null, tag);
}
