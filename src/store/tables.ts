import type { Generated, GeneratedAlways } from 'kysely';
import type { Plan } from '../domain/access/api-key.ts';
import type { Day, Instant } from '../domain/instant.ts';
import type { DoorStateTable, InboxMailTable, InboxPartTable } from './inbox/tables.ts';
import type {
  AuditTable,
  OneTimeLinkTable,
  PendingSignInTable,
  PersonTable,
  RecoveryCodeTable,
  SecondFactorTable,
  SessionTable,
} from './people/tables.ts';
import type { SourceMarkTable, SourceNameTable } from './sources/tables.ts';

/**
 * The rows of the database. Instants are RFC 3339 text, which sorts by time and is served unchanged; ids are
 * lower-case UUID text; flags are 0 or 1. `seq` counts arrivals and breaks ties.
 *
 * The *head* of a list (`…_total`, `…_version`) is stored in the row that owns the list and changes in the
 * same transaction as the list: see lists/heads.ts.
 *
 * On PostgreSQL, each key of a table whose rows belong to a domain or a list has the domain or the list, and those of
 * reports and conflicts `begin_date` too (decision 90). So statements name both wherever they know them.
 */
export interface Tables {
  account: AccountTable;
  api_key: ApiKeyTable;
  domain: DomainTable;
  document: DocumentTable;
  document_part: DocumentPartTable;
  report: ReportTable;
  conflict: ConflictTable;
  rejection: RejectionTable;
  removed_payload: RemovedPayloadTable;
  domain_day: DomainDayTable;
  domain_receipt: DomainReceiptTable;
  source_name: SourceNameTable;
  source_mark: SourceMarkTable;
  dns_record: DnsRecordTable;
  list_day: ListDayTable;
  list_point: ListPointTable;
  list_gap: ListGapTable;
  alert: AlertTable;
  person: PersonTable;
  session: SessionTable;
  one_time_link: OneTimeLinkTable;
  second_factor: SecondFactorTable;
  recovery_code: RecoveryCodeTable;
  pending_sign_in: PendingSignInTable;
  audit: AuditTable;
  lease: LeaseTable;
  inbox_mail: InboxMailTable;
  inbox_part: InboxPartTable;
  door_state: DoorStateTable;
}

interface AccountTable {
  id: string;
  name: string;
  plan: Plan;
  created_at: Instant;
  domains_total: Generated<number>;
  domains_version: string;
  alerts_total: Generated<number>;
  alerts_version: string;
  alerts_position: Generated<number>;
  alerts_nonce: string;
  /** The local part of its own address for reports: domain/access/mail-token.ts. */
  mail_token: string | null;
  /** Whether people who sign in with a password need a second factor. */
  second_factor_required: Generated<0 | 1>;
}

interface ApiKeyTable {
  id: string;
  account_id: string;
  name: string;
  prefix: string;
  sha256: Uint8Array;
  enabled: 0 | 1;
  created_at: Instant;
  last_used_at: Instant | null;
  expires_at: Generated<Instant | null>;
}

export type DomainStatus = 'active' | 'paused';

/** A row without an account is an *unclaimed* domain: reports came in for it, and nobody has registered it. */
interface DomainTable {
  id: string;
  account_id: string | null;
  name: string;
  status: DomainStatus;
  created_at: Instant;
  last_report_at: Instant | null;
  /** When the domain was last resumed: alerts start again from there. null when it was never paused. */
  watched_since: Generated<Instant | null>;
  reports_total: Generated<number>;
  reports_version: string;
  /** The newest point of the list: see lists/points.ts. */
  reports_position: Generated<number>;
  reports_nonce: string;
  alerts_total: Generated<number>;
  alerts_version: string;
  alerts_position: Generated<number>;
  alerts_nonce: string;
}

/**
 * A document of an input, which is a file or a mail that came in, and the bytes in which it came. Of a document that was
 * stored before, and of one that is too large, only that it came. What came in bounds it; nothing deletes rows.
 */
interface DocumentTable {
  seq: GeneratedAlways<number>;
  /** Of the whole input. */
  input_sha256: Uint8Array;
  /** The numbers of the parts that lead to its part of the input, `2.1`; empty for the whole input. */
  path: string;
  /** A file's path or a mail's name, as it was given. */
  input_name: string;
  input_bytes: number;
  /** Names of the members that it was found in, outermost first; null when the input is the document. */
  member: string | null;
  received_at: Instant;
  /** How the content is compressed; `as_is`: not again, because it came compressed. */
  encoding: 'as_is' | 'zstd' | null;
  /** The size of the part as it came. */
  content_bytes: number | null;
  /** The compressed part, of a large one the first mebibyte. */
  content: Uint8Array | null;
}

/** The rest of a large original, one mebibyte in each part. They are stored before their document has content. */
interface DocumentPartTable {
  document_seq: number;
  /** From 1, because part 0 is `content` in the document's own row. */
  part: number;
  content: Uint8Array;
}

interface ReportTable {
  seq: GeneratedAlways<number>;
  /** Made from the report's identity: see domain/reports/report-identity.ts. */
  id: string;
  domain_id: string;
  document_seq: number;
  received_at: Instant;
  reporter_org: string | null;
  reporter_email: string | null;
  report_id: string | null;
  begin_date: Instant;
  end_date: Instant;
  record_count: number;
  total_messages: number;
  aligned_messages: number;
  payload_sha256: Uint8Array;
  /** JSON: a list of `Warning`. */
  warnings: string;
  /** Its position in the order in which the domain's reports arrived or were corrected: see lists/points.ts. */
  position: number;
  /** Of the transaction that gave the position. */
  nonce: string;
  /** Its records and what else no list shows: domain/reports/report-content.ts. */
  content: Uint8Array;
}

/** A document that has the identity of a stored report, and other content: the columns of a report that may differ. */
interface ConflictTable {
  seq: GeneratedAlways<number>;
  /** Those of its report. */
  domain_id: string;
  report_id: string;
  begin_date: Instant;
  document_seq: number;
  payload_sha256: Uint8Array;
  received_at: Instant;
  reporter_org: string | null;
  reporter_email: string | null;
  record_count: number;
  total_messages: number;
  aligned_messages: number;
  warnings: string;
  content: Uint8Array;
}

/** Why a document is not a report. */
interface RejectionTable {
  document_seq: number;
  reason: string;
  message: string;
  place: string | null;
}

/** A payload that an operator removed. When it comes in again, it is not stored. Operators bound it; nothing deletes rows. */
interface RemovedPayloadTable {
  report_id: string;
  payload_sha256: Uint8Array;
  removed_at: Instant;
}

/** What a domain's reports whose windows begin on one day add up to. */
interface DomainDayTable {
  domain_id: string;
  day: Day;
  reports: number;
  messages: number;
  aligned: number;
  /** What addresses sent, packed (domain/sources/packed-sources.ts); null when no report of the day named a source. */
  sources: Uint8Array | null;
}

/** How many reports came in for a domain on one day, whichever days they cover. A day without reports has no row. */
interface DomainReceiptTable {
  domain_id: string;
  day: Day;
  reports: number;
}

/** The state of one of a domain's records in DNS, or (`route`) of all records that reports need to reach us. */
interface DnsRecordTable {
  domain_id: string;
  record_type: 'dmarc' | 'spf' | 'route';
  checked_at: Instant;
  /** JSON: see domain/dns/dns-watch.ts, alerts/route-checks.ts. */
  state: string;
}

/** How many items of a list are on a day, to find a deep page (timeline.ts). A day without items has no row. */
interface ListDayTable {
  list_id: string;
  day: Day;
  items: number;
}

/**
 * The last position that a transaction gave to changes of a list, and the transaction's random nonce (points.ts): the
 * beginning of each list, and a change of alerts; reports have their own. Of a report that was corrected or removed, what
 * it had. Nothing deletes rows, because clients can come back with any point.
 */
interface ListPointTable {
  list_id: string;
  position: number;
  nonce: string;
}

/**
 * A position of a list whose item was removed or has a later position. One a correction, two a resolved alert; nothing
 * deletes rows, because totals behind a point are counted with them.
 */
interface ListGapTable {
  list_id: string;
  position: number;
  nonce: number;
}

interface AlertTable {
  seq: GeneratedAlways<number>;
  id: string;
  account_id: string;
  domain_id: string;
  type: string;
  /** Distinguishes alerts of one type and domain that are open at the same time. */
  subject: string;
  fired_at: Instant;
  resolved_at: Instant | null;
  /** JSON object. */
  context: string;
  /** Its positions in the order in which alerts of the account, and of the domain, fired or resolved (points.ts). */
  account_position: Generated<number>;
  domain_position: Generated<number>;
  /** A random number for each change of an open alert's context. */
  update_nonce: Generated<number>;
}

/** Which process does a share of the work, by the database's clock (work/leases.ts). */
export interface LeaseTable {
  /** The job and the shard: `alerts:7`. */
  name: string;
  holder: string | null;
  expires_at: Instant | null;
  /** When the last completed run began. */
  ran_at: Instant | null;
}
