import type { Counts } from '../pass-rate.ts';

/** What a person has said of a source or a sender. */
export type Mark = 'legitimate' | 'unknown';

export interface SourceCounts extends Counts {
  /** Messages for which DKIM, and SPF, passed and was aligned. */
  readonly dkimAligned: number;
  readonly spfAligned: number;
}

export type Writable<T> = { -readonly [Name in keyof T]: T[Name] };
