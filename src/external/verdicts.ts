import type { ReasonCode, Verdict } from '../domain/senders/sender.ts';

/** The contract's words for verdicts. */
export const VERDICTS = {
  yours: 'yours',
  needs_setup: 'needs_setup',
  passed_on: 'passed_on',
  not_recognised: 'not_recognised',
  forged: 'forged',
} as const satisfies Record<Verdict, string>;

export const toVerdict = (inner: Verdict) => VERDICTS[inner];

/** The contract's codes for reasons: a rule of verdicts whose code is missing here does not compile. */
export const REASONS = {
  marked: 'marked',
  scattered: 'scattered',
  signature_broken: 'signature_broken',
  listed_forwarder: 'listed_forwarder',
  receiver_says_forwarded: 'receiver_says_forwarded',
  signature_carried: 'signature_carried',
  alignment_strict: 'alignment_strict',
  partly_fails: 'partly_fails',
  pass_not_counted: 'pass_not_counted',
  passes: 'passes',
  name_is_own: 'name_is_own',
  service_as_itself: 'service_as_itself',
  private_address: 'private_address',
  own_network: 'own_network',
  unlisted_domain: 'unlisted_domain',
  spf_refuses: 'spf_refuses',
  nothing_authenticates: 'nothing_authenticates',
} as const satisfies Record<ReasonCode, string>;
