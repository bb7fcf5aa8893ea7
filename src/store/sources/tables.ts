import type { Day, Instant } from '../../domain/instant.ts';
import type { Period, PeriodState } from '../../domain/sources/periods.ts';
import type { Mark } from '../../domain/sources/source.ts';

/* Tables about the sources of a domain, except what they sent each day (`domain_source_ip`, in store/tables.ts). */

/** The name of a source in DNS, as it was when it was last looked up. */
export interface SourceNameTable {
  domain_id: string;
  address: string;
  /** Lower case, without a dot at the end. null when no name resolves back to the address, or no server answered. */
  name: string | null;
  /** When to look it up again. */
  expires_at: Instant;
}

/** What a person has said of a source. */
export interface SourceMarkTable {
  domain_id: string;
  address: string;
  mark: Mark;
  marked_at: Instant;
  /** A person's e-mail address. */
  marked_by: string;
}

/** A period of a domain that has data, and whether it has rows in `source_sum`. */
export interface SourcePeriodTable {
  domain_id: string;
  period: Period;
  state: PeriodState;
}

/** What one address sent in a domain's name in a period; valid while the period's state is `summed`. */
export interface SourceSumTable {
  domain_id: string;
  period: Period;
  address: string;
  messages: number;
  aligned: number;
  dkim_aligned: number;
  spf_aligned: number;
  /** The first and the last day of the period on which it sent something. */
  first_day: Day;
  last_day: Day;
}
