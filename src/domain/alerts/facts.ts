import type { RecordType } from '../dns/dns-record.ts';
import type { DnsRecordState } from '../dns/dns-watch.ts';
import type { Day, Instant } from '../instant.ts';
import type { Counts, DayCounts } from '../pass-rate.ts';
import type { FailureCause } from '../sources/failure-cause.ts';

/** All that is known of one domain at one moment. The rules read nothing else. */
export interface Facts {
  readonly now: Instant;
  readonly domain: string;
  /** When the domain was last resumed; null when it has never been paused. */
  readonly watchedSince: Instant | null;
  /** When the newest report was received. */
  readonly lastReportAt: Instant | null;
  /** The latest days that have data, oldest first. */
  readonly days: readonly DayCounts[];
  /** The latest days on which reports came in, oldest first; none while the last report is too new for an alert. */
  readonly receipts: readonly { readonly day: Day; readonly reports: number }[];
  /** Addresses that failed more than the thresholds allow, on days that may still fire or have fired. */
  readonly failingSources: readonly FailingSource[];
  /** Who sends most of what fails since the pass rate fell; only while it lasts. */
  readonly cause?: FailureCause | undefined;
  readonly dns: Readonly<Partial<Record<RecordType, DnsRecordState>>>;
  readonly alerts: readonly KnownAlert[];
}

export interface FailingSource extends Counts {
  readonly day: Day;
  readonly address: string;
  /** The service that sent; null when no evidence names one, or the address is not new. */
  readonly service: string | null;
  /** Data days between its last message and this day, both excluded, up to what rules need; null if it sent none before. */
  readonly absentDays: number | null;
  /** Later days on which a new source sent too many failing messages. */
  readonly laterFailingDays: readonly Day[];
}

export interface KnownAlert {
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  readonly isOpen: boolean;
  readonly firedAt: Instant;
  readonly resolvedAt: Instant | null;
  readonly context: Readonly<Record<string, unknown>>;
}
