import type { Verdict } from '../domain/senders/sender.ts';

/** The verdicts of the contract. */
export const VERDICTS = ['yours', 'needs_setup', 'passed_on', 'not_recognised', 'forged'] as const;

export type ServedVerdict = (typeof VERDICTS)[number];

/** A verdict as the contract names it. */
export const toVerdict = (inner: Verdict): ServedVerdict => inner;
