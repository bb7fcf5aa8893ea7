import type { Instant } from '../../domain/instant.ts';
import type { Signed } from '../../domain/reports/reporters.ts';
import type { Spending } from '../budget.ts';
import type { Answers, Question } from './answers.ts';

/** What is known of how a mail came, and what DNS has answered about it. */
export interface Claim extends Spending {
  /** The address of an SMTP client that is not the operator's. */
  readonly client: string | undefined;
  readonly sender: string;
  readonly helo: string;
  readonly receivedAt: Instant;
  readonly trustedServers: readonly string[];
  readonly answers: Answers;
}

export interface Verification extends Signed {
  /**
   * The address of the mail's From, in lower case, when DKIM, ARC or SPF passed for a name that is aligned with it (RFC 9989);
   * empty when nothing says who sent it, undefined when DNS had no answer in time. Whose signatures passed is looked for where it
   * counts (tls-mail.ts).
   */
  readonly from: string | undefined;
  /** What has to be known first. */
  readonly questions: readonly Question[];
  /** What the check has cost, in the unit of the budget. */
  readonly cost: number;
}
