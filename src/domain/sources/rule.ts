import type { EvidenceContext, Facts } from './evidence.ts';
import type { Phrase } from './phrase.ts';
import type { Mark } from './source.ts';
import type { Verdict } from './verdict.ts';

export interface AdviceContext extends EvidenceContext {
  readonly mark: Mark | null;
  readonly verdict: Verdict;
}

export interface Rule {
  readonly title: string;
  /** Of messages that pass by DKIM, where there is something to do about SPF. */
  readonly tone?: 'improve';
  readonly applies: (facts: Facts) => boolean;
  readonly tell: (facts: Facts, asked: AdviceContext) => Phrase;
}
