import type { Verdict } from '../domain/senders/sender.ts';

/** The contract's words for verdicts. */
export const VERDICTS = {
  yours: 'yours',
  needs_setup: 'needs_setup',
  passed_on: 'passed_on',
  not_recognised: 'not_recognised',
  forged: 'forged',
} as const satisfies Record<Verdict, string>;

export const toVerdict = (inner: Verdict) => VERDICTS[inner];
