import type { Verdict as Inner } from '../domain/senders/sender.ts';

/** The verdicts of the contract. */
export const VERDICTS = ['yours', 'needs_setup', 'passed_on', 'not_recognised', 'forged'] as const;

export type Verdict = (typeof VERDICTS)[number];

/** A verdict as the contract names it. */
export const toVerdict = (inner: Inner): Verdict => inner;
