import type { Instant } from '../instant.ts';
import type { DayCounts } from '../pass-rate.ts';
import type { AlertContext } from './context.ts';

/** What every rule knows of one domain at one moment. The file of a type adds what only that type knows. */
export interface CommonFacts {
  readonly now: Instant;
  readonly domain: string;
  /** When the domain was last resumed; null when it has never been paused. */
  readonly watchedSince: Instant | null;
  /** The latest days that have data, oldest first. */
  readonly days: readonly DayCounts[];
  readonly alerts: readonly KnownAlert[];
}

export interface KnownAlert {
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  readonly isOpen: boolean;
  readonly firedAt: Instant;
  readonly resolvedAt: Instant | null;
  readonly context: AlertContext;
}
