import type { Counts } from '../alerts/rate.ts';
import type { Day } from '../instant.ts';
import type { Network } from './network.ts';

/** What an address sent in a domain's name in some days, with what is known of the address. */
export interface Source extends SourceCounts {
  readonly address: string;
  readonly firstDay: Day;
  readonly lastDay: Day;
  /** Its name in DNS, which leads back to it. */
  readonly name: string | undefined;
  readonly network: Network | undefined;
  /** The name of the service that sends, where a page has looked for it. */
  readonly service?: string | undefined;
  readonly mark: Mark | undefined;
}

/** What a person has said of a source; null when nobody has. */
export type Mark = 'legitimate' | 'unknown';

export interface SourceCounts extends Counts {
  /** Messages for which DKIM, and SPF, passed and was aligned. */
  readonly dkimAligned: number;
  readonly spfAligned: number;
}

export type Writable<T> = { -readonly [Name in keyof T]: T[Name] };
