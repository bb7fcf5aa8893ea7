import type { PolicyEvaluated, ReportRecord, ReportTally } from './aggregate-report.ts';

/**
 * One aligned pass is enough. `policyEvaluated` includes alignment and `authResults` does not, so a raw SPF pass for
 * another owner's domain never counts (RFC 9990, policy_evaluated).
 */
export function passesDmarc({ dkim, spf }: Pick<PolicyEvaluated, 'dkim' | 'spf'>): boolean {
  return dkim === 'pass' || spf === 'pass';
}

/** The largest number of messages that one report may count, so that sums over many reports stay exact. */
export const MAX_REPORT_MESSAGES = 1e12;

export const EMPTY_TALLY: ReportTally = {
  ...{ recordCount: 0, totalMessages: 0, alignedMessages: 0, dkimAligned: 0, spfAligned: 0 },
  ...{ quarantined: 0, rejected: 0, otherwise: 0 },
};

export function addToTally(
  tally: ReportTally,
  { count, policyEvaluated }: Pick<ReportRecord, 'count' | 'policyEvaluated'>,
): ReportTally {
  const { dkim, spf, disposition } = policyEvaluated;
  const isOther = !['none', 'quarantine', 'reject'].includes(disposition ?? '');
  return {
    recordCount: tally.recordCount + 1,
    totalMessages: tally.totalMessages + count,
    alignedMessages: tally.alignedMessages + (passesDmarc(policyEvaluated) ? count : 0),
    dkimAligned: tally.dkimAligned + (dkim === 'pass' ? count : 0),
    spfAligned: tally.spfAligned + (spf === 'pass' ? count : 0),
    quarantined: tally.quarantined + (disposition === 'quarantine' ? count : 0),
    rejected: tally.rejected + (disposition === 'reject' ? count : 0),
    otherwise: tally.otherwise + (isOther ? count : 0),
  };
}
