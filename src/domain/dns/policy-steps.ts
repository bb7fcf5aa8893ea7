import { isDeepStrictEqual } from 'node:util';
import { type Day, daysBetween, toDay } from '../instant.ts';
import { toPolicies, toPolicyTagsOf } from './dns-record.ts';

/** A change of the policy that a domain publishes. Policies are tags of a record; null is no record. */
export interface PolicyStep {
  readonly day: Day;
  readonly former: string | null;
  readonly policy: string | null;
  readonly by: 'reports' | 'dns';
}

type StatedDay = Pick<PolicyStep, 'day' | 'policy'>;
type FiredAlert = Readonly<Record<'type' | 'fired_at' | 'context', string>>;

const MAX_DAYS_APART = 4;

/**
 * Oldest first. `days` are those that state a policy, in order; alerts may be of any type. A step that DNS and reports tell
 * of has the day of DNS.
 */
export function listPolicySteps(days: readonly StatedDay[], alerts: readonly FiredAlert[]) {
  const seen = alerts.flatMap(toSeenStep);
  const isUnseen = ({ day, policy }: PolicyStep) =>
    !seen.some(
      (one) =>
        Math.abs(daysBetween(one.day, day)) <= MAX_DAYS_APART &&
        isDeepStrictEqual(toPolicies(one.policy), toPolicies(policy)),
    );
  const steps = [...seen, ...findReportedSteps(days).filter(isUnseen)];
  return steps.sort((a, b) => (a.day < b.day ? -1 : 1));
}

const TYPES = new Set(['alert.dns_record_changed', 'alert.policy_weakened']);

/** A changed record may be of SPF, or have the same policy as before. */
function toSeenStep({ type, fired_at, context }: FiredAlert): PolicyStep | [] {
  const { record_type = 'dmarc', previous_value, current_value } = JSON.parse(context);
  if (!TYPES.has(type) || record_type !== 'dmarc') return [];
  const former = toPolicyTagsOf(previous_value ?? null);
  const policy = toPolicyTagsOf(current_value ?? null);
  return former === policy ? [] : { day: toDay(fired_at), former, policy, by: 'dns' };
}

/** Reporters cache DNS, so the former policy may return for a day: a new one counts when the next days state it, too. */
const DAYS_SETTLED = 3;

/** What the first day states is no step. */
function findReportedSteps(days: readonly StatedDay[]): PolicyStep[] {
  const steps: PolicyStep[] = [];
  let former = days[0]?.policy ?? null;
  for (const [i, { day, policy }] of days.entries()) {
    const next = days.slice(i, i + DAYS_SETTLED);
    if (policy === former || next.some((one) => one.policy !== policy)) continue;
    steps.push({ day, former, policy, by: 'reports' });
    former = policy;
  }
  return steps;
}
