import type { PolicyPublished, ReportMetadata, ReportRecord } from './aggregate-report.ts';

/* What pages show of a report that is not in its row: it is read again from the original bytes. */

export interface ReportLocation {
  readonly reportId: string;
  readonly documentSeq: number;
  readonly payloadSha256: string;
  /** When it came in: RFC 3339. */
  readonly receivedAt: string;
}

/** A part of a report's records, in the order of `LargestRecords`. */
export interface RecordRange {
  readonly from: number;
  readonly count: number;
}

/** A record whose lists and texts are cut to what a page shows. */
export interface ShownRecord extends ReportRecord {
  /** Authentication results and reasons that are left out. */
  readonly omitted: number;
}

export interface RecordPart {
  readonly records: readonly ShownRecord[];
  /** How many records can be shown, part by part. */
  readonly listed: number;
}

export interface ReportContent extends RecordPart {
  readonly metadata: ReportMetadata;
  readonly policyPublished: PolicyPublished;
  readonly xmlNamespace: string | null;
  readonly version: string | null;
}

/**
 * Reads reports again for pages. Throws a Failure in words for the page: `unavailable` when too many are being read,
 * `not_found` when the original is gone or cannot be read as this report, `limit_reached` when it is too large.
 */
export interface ReportOriginals {
  readRecords(
    place: ReportLocation,
    asked: { readonly records: RecordRange; readonly personId: string },
  ): Promise<ReportContent>;
  /** The report's XML document, in gzip. */
  readDocument(place: ReportLocation, personId: string): Promise<Uint8Array>;
}
