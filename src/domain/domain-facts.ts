import type { Cause } from './alerts/rule.ts';
import type { RecordValue } from './dns/dns-record.ts';
import type { KnownRecord } from './dns/held-policy.ts';
import type { Day } from './instant.ts';
import type { MailByStanding } from './own-mail.ts';
import type { Counts } from './pass-rate.ts';
import type { Latest } from './senders/latest.ts';
import type { ReasonCode, Verdict } from './senders/sender.ts';
import type { ServiceGuide, ServiceKind } from './senders/services.ts';
import type { Signature } from './sources/evidence.ts';

/** What the next step and the readiness of a domain depend on. Only reports that are believed count. */
export interface DomainFacts {
  readonly status: 'active' | 'paused';
  /** The owner says that nothing is sent in the domain's name. */
  readonly sendsNoMail: boolean;
  readonly today: Day;
  /** The first and the newest day that a report begins on. */
  readonly oldest: Day | null;
  readonly newest: Day | null;
  /** What was sent in the 30 days that end with the newest one, and in the 30 days before. */
  readonly counts: Counts;
  readonly before: Counts;
  /** How many of the 30 days have messages. */
  readonly dataDays: number;
  /** The most days between two days that have reports. */
  readonly gap?: number;
  /** Whether nothing that counts is of a file or of an established reporter: anybody may have sent it. */
  readonly isUnproven?: boolean;
  /**
   * The confirmed DMARC record; while no check of DNS has confirmed one, the tags that reports state of it; undefined when
   * none do.
   */
  readonly record: RecordValue | undefined;
  /** What DNS has, once a check has confirmed it. */
  readonly dns?: KnownRecord | undefined;
  readonly openAlerts: readonly OpenAlert[];
  /** Of the addresses that alerts ask about, those that people marked, by themselves or as a part of their sender. */
  readonly marked?: ReadonlySet<string>;
  /** undefined where nobody asked whose the mail is: then all of it counts as the owner's. */
  readonly mail?: JudgedMail | undefined;
}

/** Whose the mail of the 30 days is. */
export interface JudgedMail {
  readonly all: ScopedMail;
  /** The part of it that names subdomains in the header From. */
  readonly below: ScopedMail;
  /** Whether no mail of the owner failed in QUIET_DAYS days. */
  readonly isQuiet: boolean;
  /** What senders of the owner's sent, and on how many days. */
  readonly owned: Counts & { readonly days: number };
  /** Those of which too much passes by SPF alone. */
  readonly unsigned: readonly UnsignedSender[];
  /** Those that failed when they last sent, in HISTORY_DAYS days. */
  readonly past: readonly FailingSender[];
}

/** Mail by its standing, and the senders of what fails: most failures first. */
export interface ScopedMail {
  readonly standings: MailByStanding;
  /** Those that may be the owner's. */
  readonly failing: readonly FailingSender[];
  readonly forwarders: readonly FailingSender[];
  readonly strangers: readonly FailingSender[];
}

/** A sender (senders/sender.ts), as a sentence names it. */
export interface FailingSender extends Counts {
  readonly key: string;
  readonly title: string;
  readonly verdict: Verdict;
  readonly reason: ReasonCode;
  /** The domain's own signature that does not verify. */
  readonly broken: Signature | undefined;
  /** Addresses of which messages failed. */
  readonly sources: number;
  readonly lastDay: Day;
  /** Whether it keeps the domain from a stronger policy. */
  readonly isBlocking: boolean;
  readonly latest: Latest;
  readonly service: { readonly name: string; readonly kind: ServiceKind } | undefined;
  /** How it is set up. */
  readonly guide: Pick<ServiceGuide, 'term'> | undefined;
  /** What is wrong with its key or the SPF record by which it fails, and what to do, as DNS has it. */
  readonly fault?: string | undefined;
  /** What receivers did with what failed: messages by disposition. */
  readonly applied: ReadonlyMap<string | null, number>;
}

export interface UnsignedSender extends FailingSender {
  /** The signature that most of its messages have: the owner's, broken, or a valid one of somebody else. */
  readonly signature: Signature | undefined;
  /** Messages of the 30 days that pass by SPF alone. */
  readonly unsigned: number;
}

export interface OpenAlert {
  readonly type: string;
  /** The day that it is about. */
  readonly day: Day | undefined;
  readonly cause?: Cause | undefined;
  /** The addresses that it asks about, where it names all of them. */
  readonly sources?: readonly string[] | undefined;
}
