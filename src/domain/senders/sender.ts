import type { Day } from '../instant.ts';
import type { EvidenceContext, Sighting, Signature } from '../sources/evidence.ts';
import type { Network } from '../sources/network.ts';
import type { Phrase } from '../sources/phrase.ts';
import type { Mark, SourceCounts } from '../sources/source.ts';
import type { NamedService, NameEvidence } from './service-name.ts';

/** Whose mail a sender sends, and whether it is in order. `forged` is only what people marked, or what a botnet sends. */
export type Verdict = 'yours' | 'needs_setup' | 'passed_on' | 'not_recognised' | 'forged';

/** What one address sent in some 30 days. */
export interface SentMail extends SourceCounts {
  readonly address: string;
  readonly firstDay: Day;
  readonly lastDay: Day;
  readonly results: readonly Sighting[];
  /** Its name in DNS, which leads back to it. */
  readonly name: string | undefined;
  readonly network: Network | undefined;
}

/** Who sent, by one or many addresses. */
export interface Sender extends SourceCounts {
  /**
   * Stays the same: `service SendGrid`, `domain list.example.net`, `network AS64500`, `scattered`, or the address. Where a
   * party has many customers, ` passes on`, ` to set up` or ` others` follows, as in `service Google passes on`.
   */
  readonly key: string;
  /** No two senders of a domain have the same one. */
  readonly title: string;
  readonly service: NamedService | undefined;
  readonly verdict: Verdict;
  /** The most important one first. */
  readonly reasons: readonly ReasonCode[];
  /** One sentence for people. */
  readonly reason: Phrase;
  readonly mark: Mark | undefined;
  readonly isScattered: boolean;
  /** The owner's signature that does not verify, the one on most messages. */
  readonly broken: Signature | undefined;
  /** How many addresses. */
  readonly sources: number;
  readonly firstDay: Day;
  readonly lastDay: Day;
}

export type ReasonCode =
  | 'marked'
  | 'scattered'
  | 'signature_broken'
  | 'listed_forwarder'
  | 'receiver_says_forwarded'
  | 'signature_carried'
  | 'partly_fails'
  | 'passes'
  | 'pass_not_counted'
  | 'alignment_strict'
  | 'name_is_own'
  | 'service_as_itself'
  | 'signed_as_sister'
  | 'other_customer'
  | 'free_mail'
  | 'signature_claimed'
  | 'unlisted_domain'
  | 'private_address'
  | 'own_network'
  | 'spf_refuses'
  | 'nothing_authenticates';

export interface JudgeContext extends EvidenceContext {
  readonly nameService: (evidence: NameEvidence) => NamedService | undefined;
  /** What people said of an address, or of a sender by its key. */
  readonly findMark: (subject: string) => Mark | undefined;
  /** Whether the owner has another domain of the name's organisation. */
  readonly isSister: (name: string) => boolean;
}
