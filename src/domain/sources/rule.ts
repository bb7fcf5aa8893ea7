import type { Verdict } from '../senders/sender.ts';
import type { EvidenceContext, Facts } from './evidence.ts';
import type { Phrase } from './phrase.ts';
import type { Mark } from './source.ts';

export interface AdviceContext extends EvidenceContext {
  readonly mark: Mark | null;
  readonly verdict: Verdict;
}

export interface Rule {
  readonly title: string;
  /** Set where messages pass by DKIM and there is something to do about SPF. */
  readonly tone?: 'improve';
  readonly applies: (facts: Facts) => boolean;
  readonly tell: (facts: Facts, asked: AdviceContext) => Phrase;
}
