import type { AggregateReport } from '../../../domain/reports/aggregate-report.ts';
import type { Refusal } from '../../../domain/reports/refusal.ts';
import type { Original } from '../../inputs/originals.ts';

/** A document found in an input. */
export interface ReceivedDocument {
  /** The input's row, from `keepOriginal`; the same object for each document of one input. */
  readonly original: Original;
  /**
   * Its position among the documents of its input, from 0. Reading the input again gives the same position.
   */
  readonly ordinal: number;
  /** Names of the container members that it was found in, outermost first. */
  readonly member: readonly string[];
  /** The report, or the reason why there is none. */
  readonly content: AggregateReport | Refusal;
}

/**
 * The result for a document (decisions, section 3): `unclaimed` is stored for a domain that nobody has
 * registered, `duplicate` is known already, `conflict` has a known report's identity and other content,
 * `removed` was removed by an operator before.
 */
export type Outcome = 'stored' | 'unclaimed' | 'duplicate' | 'conflict' | 'removed' | 'rejected';

/** Names of container members in one text. */
export function toMember({ member }: ReceivedDocument): string | null {
  return member.length === 0 ? null : member.join(' > ');
}
