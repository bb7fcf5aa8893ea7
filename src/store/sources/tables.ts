import type { Instant } from '../../domain/instant.ts';
import type { Mark } from '../../domain/sources/source.ts';

/* What is known of the sources of a domain, beside what they sent (`domain_day`, in store/tables.ts). */

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
