import { WINDOW_DAYS } from '../readiness.ts';
import { listObstacles, OBSTACLE_TEXTS } from './enforce.ts';
import { describeFailure } from './failure-texts.ts';
import type { TlsCheck } from './tls-check.ts';
import type { TlsDay } from './tls-day.ts';
import { findWorst, type WorstFailure } from './tls-summary.ts';

/** What there is to do about the TLS of mail to a domain. */
export interface TlsStep {
  readonly code: 'no_reports' | 'repair' | 'wait' | 'enforce' | 'nothing';
  readonly text: string;
  /** Of `repair`. */
  readonly worst?: WorstFailure;
}

export const NO_REPORTS = `No TLS report that counts covers the last ${WINDOW_DAYS} days. Only signed reports of established reporters count, and files.`;

/** The newest day comes first. */
export function findTlsStep(domain: string, days: readonly TlsDay[], check?: TlsCheck): TlsStep {
  if (days.length === 0) return { code: 'no_reports', text: NO_REPORTS };
  const worst = findWorst(days);
  if (worst === undefined) return describeEnforce(days, check) ?? NOTHING;
  const { sentence, step } = describeWorst(worst, domain);
  return { code: 'repair', text: `${sentence} ${step}`, worst };
}

const NOTHING: TlsStep = { code: 'nothing', text: 'There is nothing to do.' };

export function describeWorst(worst: WorstFailure, domain: string) {
  const [reporter = ''] = worst.reporters;
  return describeFailure(worst.resultType, { ...worst, domain, reporter }, worst.mode);
}

/** Of a policy in `testing`: whether it may go on to `enforce`. */
export function describeEnforce(days: readonly TlsDay[], check?: TlsCheck): TlsStep | undefined {
  const obstacles = listObstacles(days, check);
  if (obstacles === undefined) return undefined;
  if (obstacles.length > 0) {
    const lacks = obstacles.map((one) => OBSTACLE_TEXTS[one]).join(' ');
    return { code: 'wait', text: `Not ready for enforce yet. ${lacks}` };
  }
  const text =
    'Ready for enforce: set mode: enforce in the policy file, and change the id at _mta-sts.';
  return { code: 'enforce', text };
}
