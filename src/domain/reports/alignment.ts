import type { Writable } from '../sources/source.ts';
import type { EvaluatedCounts, PolicyEvaluated, ReportRecord, Tally } from './aggregate-report.ts';

/**
 * One aligned pass is enough. `policyEvaluated` includes alignment and `authResults` does not, so a raw SPF pass for
 * another owner's domain never counts (RFC 9990, policy_evaluated).
 */
export function passesDmarc({ dkim, spf }: Pick<PolicyEvaluated, 'dkim' | 'spf'>): boolean {
  return dkim === 'pass' || spf === 'pass';
}

/** The largest number of messages that one report may count, so that sums over many reports stay exact. */
export const MAX_REPORT_MESSAGES = 1e12;

export const EMPTY_TALLY: Tally = { recordCount: 0, totalMessages: 0, alignedMessages: 0 };

export function addToTally(tally: Tally, { count, policyEvaluated }: Counted): Tally {
  return {
    recordCount: tally.recordCount + 1,
    totalMessages: tally.totalMessages + count,
    alignedMessages: tally.alignedMessages + (passesDmarc(policyEvaluated) ? count : 0),
  };
}

type Counted = Pick<ReportRecord, 'count' | 'policyEvaluated'>;

export function addEvaluated(
  to: Writable<EvaluatedCounts>,
  { count, policyEvaluated: { dkim, spf, disposition } }: Counted,
): void {
  if (dkim === 'pass') to.dkimAligned += count;
  if (spf === 'pass') to.spfAligned += count;
  if (disposition === 'quarantine') to.quarantined += count;
  else if (disposition === 'reject') to.rejected += count;
  else if (disposition !== 'none') to.otherwise += count;
}

export const NONE_EVALUATED: EvaluatedCounts = {
  dkimAligned: 0,
  spfAligned: 0,
  quarantined: 0,
  rejected: 0,
  otherwise: 0,
};
