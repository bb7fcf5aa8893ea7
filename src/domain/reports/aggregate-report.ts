/**
 * One superset of RFC 7489 appendix C and RFC 9990, with their names. `null` means that the reporter left the value
 * out or left it blank. Protocol defaults are applied when a report is shown, never when it is read.
 */
export interface AggregateReport {
  /** Namespace of the root element and `version`, as found. Neither decides how a report is read. */
  readonly xmlNamespace: string | null;
  readonly version: string | null;
  readonly metadata: ReportMetadata;
  readonly policyPublished: PolicyPublished;
  readonly tally: ReportTally;
  /** What it has besides its totals: its records above all (report-content.ts). */
  readonly content: Uint8Array;
  readonly warnings: readonly Warning[];
  /** A hash of what it says, not of its bytes (report-identity.ts). */
  readonly payloadSha256: string;
}

export interface ReportMetadata {
  readonly orgName: string | null;
  readonly email: string | null;
  readonly extraContactInfo: string | null;
  /** Always text: 84 of 206 ids seen in real reports are numbers above 2^53. */
  readonly reportId: string | null;
  /** Seconds since 1970, UTC, as sent. A `begin` after `end` is kept, with a warning. */
  readonly begin: number;
  readonly end: number;
  readonly errors: readonly string[];
  readonly generator: string | null;
}

export interface PolicyPublished {
  /** Lower-case A-label without a trailing dot. */
  readonly domain: string;
  readonly p: string | null;
  readonly sp: string | null;
  readonly np: string | null;
  readonly adkim: string | null;
  readonly aspf: string | null;
  readonly pct: number | null;
  readonly fo: string | null;
  readonly testing: string | null;
  readonly discoveryMethod: string | null;
}

/** One evaluation record. Placeholder records (all fields blank) are dropped. */
export interface ReportRecord {
  /** Canonical text of an IPv4 or IPv6 address; null when missing or not an address. */
  readonly sourceIp: string | null;
  /** Messages, a safe integer of 0 or more. */
  readonly count: number;
  readonly policyEvaluated: PolicyEvaluated;
  readonly identifiers: Identifiers;
  readonly authResults: AuthResults;
}

/** Results with alignment included. They are lower case; null means "not stated". */
export interface PolicyEvaluated {
  readonly disposition: string | null;
  readonly dkim: string | null;
  readonly spf: string | null;
  readonly reasons: readonly { readonly type: string | null; readonly comment: string | null }[];
}

export interface Identifiers {
  readonly headerFrom: string | null;
  readonly envelopeFrom: string | null;
  readonly envelopeTo: string | null;
}

/** Raw SPF and DKIM results. They never decide alignment. */
export interface AuthResults {
  readonly dkim: readonly DkimAuthResult[];
  readonly spf: readonly SpfAuthResult[];
}

export interface DkimAuthResult {
  readonly domain: string | null;
  readonly selector: string | null;
  readonly result: string | null;
  readonly humanResult: string | null;
}

export interface SpfAuthResult {
  readonly domain: string | null;
  readonly scope: string | null;
  readonly result: string | null;
  readonly humanResult: string | null;
}

export interface ReportTally {
  readonly recordCount: number;
  readonly totalMessages: number;
  readonly alignedMessages: number;
  readonly dkimAligned: number;
  readonly spfAligned: number;
  /** Messages by their disposition; `otherwise`: another one than `none`, or none stated. */
  readonly quarantined: number;
  readonly rejected: number;
  readonly otherwise: number;
}

/** A mistake of the reporter that did not prevent reading the report. */
export interface Warning {
  readonly code: string;
  readonly count: number;
  /** Where it occurred first, for example "line 12, column 5"; null when it is about the whole document. */
  readonly where: string | null;
}
