import type { FindFault } from '../dns/sender-record-texts.ts';
import type { ReasonCode, Verdict } from '../senders/sender.ts';
import type { EvidenceContext, Facts } from './evidence.ts';
import type { Phrase } from './phrase.ts';
import type { Mark } from './source.ts';

export interface AdviceContext extends EvidenceContext {
  readonly mark: Mark | null;
  readonly verdict: Verdict;
  readonly reason?: ReasonCode;
  /** The names of keys with which messages of the sender verify (`toKeyName`). */
  readonly verified?: ReadonlySet<string>;
  /** What checks of DNS found, and who is asked for a key. */
  readonly findFault?: FindFault;
  readonly who?: string | undefined;
}

export interface Rule {
  readonly title: string;
  /** Set where messages pass by DKIM and there is something to do about SPF. */
  readonly tone?: 'improve';
  readonly applies: (facts: Facts, asked: AdviceContext) => boolean;
  readonly tell: (facts: Facts, asked: AdviceContext) => Phrase;
}
