import type { Belief, Doubt } from '../../domain/reports/authentication.ts';
import { bytes, count, day, id, instant, number, orNull, orZero, seq, text } from './table.ts';

/*
 * Documents with the bytes in which they came, what became of them, and what a domain's reports count. What came in bounds
 * them all; reports/aging/ bounds reports of domains without account. Reports of other domains go by age
 * (`PLUMBLINE_KEEP_REPORTS_DAYS`), or an operator deletes them, and then documents stay without their bytes.
 */

/** The order of a domain's reports, and on PostgreSQL their key (decision 90). */
const LIST = 'domain_seq, begin_date, seq';

/* Conditions of indexes: see days/belief.ts. */

const IS_NEW = "doubt = 'new'";

const DOUBTFUL = 'doubt is not null';

const IS_TLS = "kind = 'tls'";

const REPEATED = `warnings like '%"repeated_content"%'`;

export const REPORTS = {
  /**
   * A document of an input, which is a file or a mail that came in, and the bytes in which it came, unless it is too large.
   * A duplicate has no row. A row goes with the report of a domain without account, or with its rejection; the bytes of
   * other reports may go first, by age (reports/aging/).
   */
  document: {
    columns: {
      seq: seq(),
      received_at: instant(),
      input_bytes: number(),
      /** The size of the part as it came; null when only is stored that it came. Stays when the content goes by age. */
      content_bytes: orNull(number()),
      /** The first half of the SHA-256 of the whole input: two inputs with the same one take 2^64 tries. */
      input_sha256: bytes(),
      /** The numbers of the parts that lead to its part of the input, `2.1`; empty for the whole input. */
      path: text(),
      /** A file's path or a mail's name, as it was given. */
      input_name: text(),
      /** Names of the members that it was found in, outermost first; null when the input is the document. */
      member: orNull(text()),
      /** How the content is compressed; null: it came compressed, or there is none. */
      encoding: orNull(text<'zstd'>()),
      /** The compressed part, of a large one the first mebibyte. */
      content: orNull(bytes()),
    },
    keys: ['unique (input_sha256, path)'],
    postgres: ['primary key (seq)'],
    // 0001-tables.ts has the storage of its content.
    storage: 'toast_tuple_target = 8160',
  },

  /** The rest of a large original, one mebibyte in each part. They are stored before their document has content. */
  document_part: {
    columns: {
      document_seq: count('references document'),
      /** The first is 1, because part 0 is `content` in the document's own row. */
      part: number(),
      content: bytes(),
    },
    keys: ['primary key (document_seq, part)'],
  },

  /**
   * On PostgreSQL columns of a fixed size come first, as in `document`: no space is left between them. Reports and
   * conflicts refer to their documents without a foreign key, whose check would cost every report.
   */
  report: {
    columns: {
      /** The order in which a domain's reports arrived or were corrected: what is stored again gets another one. */
      seq: seq(),
      begin_date: instant(),
      end_date: instant(),
      received_at: instant(),
      document_seq: count(),
      /** Of a TLS report its sessions, those with TLS as asked, and its failures as records. */
      total_messages: count(),
      aligned_messages: count(),
      dkim_aligned: count(),
      spf_aligned: count(),
      /** Messages by their disposition; `otherwise`: another one than `none`, or none stated. */
      quarantined: count(),
      rejected: count(),
      otherwise: count(),
      record_count: number(),
      /** Its domain, by number (decision 130). */
      domain_seq: number('references domain (seq)'),
      /** The account whose list has it (reports/listing.ts), and the change with which it came to that list. */
      account_seq: orNull(number()),
      number: orNull(count()),
      /** Of a TLS report, the account whose changes have it: the account's list of reports has none. */
      tls_account_seq: orNull(number()),
      /** 1, and one more each time its content was replaced. */
      revision: number(),
      /**
       * Keys of its reporter's names, for lists that are filtered by one: of the organisation, and of the domain of the e-mail
       * address where it has another key (domain/reports/reporters.ts).
       */
      reporter: orNull(count()),
      reporter_host: orNull(count()),
      /** Made from the report's identity: see domain/reports/report-identity.ts. */
      id: id(),
      /** The nonce of the transaction that stored it (lists/changes.ts). */
      nonce: text(),
      /** The first half of a hash of its content: domain/reports/report-identity.ts. */
      payload_sha256: bytes(),
      reporter_org: orNull(text()),
      reporter_email: orNull(text()),
      report_id: orNull(text()),
      /** null: an aggregate report of DMARC. Lists and figures of those have no others. */
      kind: orNull(text<'tls'>()),
      /** Of a TLS report what its list shows of its policies: JSON (domain/reports/tls-policies.ts). */
      policies: orNull(text()),
      /** What its mail proved, and why it is not believed: domain/reports/authentication.ts. */
      authenticated: orNull(text()),
      doubt: orNull(text<Doubt>()),
      /** JSON: a list of `Warning`. */
      warnings: text(),
      /** Its records and what else no list shows: domain/reports/report-content.ts. */
      content: bytes(),
    },
    keys: [
      'unique (id)',
      // The day, for those of some days that arrived after a cursor.
      'index report_arrival (domain_seq, seq, begin_date, kind)',
      'index report_account (account_seq, begin_date, seq) where account_seq is not null',
      'index report_change (account_seq, number) where account_seq is not null',
      `index report_tls (domain_seq, begin_date, seq) where ${IS_TLS}`,
      `index report_tls_arrival (domain_seq, seq) where ${IS_TLS}`,
      'index report_tls_change (tls_account_seq, number) where tls_account_seq is not null',
      `index report_stranger (domain_seq, received_at) where ${DOUBTFUL}`,
      `index report_new (domain_seq, authenticated, begin_date) where ${IS_NEW}`,
      'index report_payload (payload_sha256)',
      ...['reporter', 'reporter_host'].flatMap((name) => [
        `index report_${name} (domain_seq, ${name}, begin_date, seq) where ${name} is not null`,
        `index report_account_${name} (account_seq, ${name}, begin_date, seq)
          where account_seq is not null and ${name} is not null`,
      ]),
      `index report_repeated (received_at, seq) where ${REPEATED}`,
    ],
    // With the kind: else each report that a page skips would be looked up.
    sqlite: [`index report_list (${LIST}, kind)`],
    postgres: [`constraint report_key primary key (${LIST})`],
  },

  /** A document that has the identity of a stored report, and other content. */
  conflict: {
    columns: {
      seq: seq(),
      received_at: instant(),
      document_seq: count(),
      /** The same as its report's. */
      begin_date: instant(),
      domain_seq: number(),
      report_id: id(),
      payload_sha256: bytes(),
      authenticated: orNull(text()),
      doubt: orNull(text<Doubt>()),
      /** All columns of a report that come from its document, as one value (reports/report-row.ts). */
      parsed: text(),
    },
    // A report has one conflict for each payload.
    keys: [
      'index conflict_received (received_at, seq)',
      // A report that is stored again, with other content, is deleted first.
      'constraint conflict_report foreign key (report_id) references report (id) deferrable initially deferred',
    ],
    sqlite: ['unique (report_id, payload_sha256)'],
    postgres: [
      `primary key (${LIST})`,
      'unique (report_id, domain_seq, begin_date, payload_sha256)',
      // Operators name a conflict by its number.
      'index conflict_seq (seq)',
    ],
  },

  /** Why a document is not a report. Deleted when a newer reading finds one, or by an operator. */
  rejection: {
    columns: {
      document_seq: count('primary key references document'),
      reason: text(),
      message: text(),
      place: orNull(text()),
    },
    // Metrics count them by their reasons.
    keys: ['index rejection_reason (reason)'],
  },

  /** A payload that an operator removed. When it comes in again, it is not stored. Operators bound it; nothing deletes rows. */
  removed_payload: {
    columns: { report_id: id(), payload_sha256: bytes() },
    clusteredBy: 'report_id, payload_sha256',
  },

  /**
   * What a domain's reports whose windows begin on one day add up to: a row for each belief that the day has reports of,
   * which goes with the last of them.
   */
  domain_day: {
    columns: {
      domain_id: id('references domain (id)'),
      day: day(),
      // It is as long as the day: PostgreSQL leaves no space between the two.
      reports: number(),
      messages: count(),
      aligned: count(),
      dkim_aligned: orZero(count()),
      spf_aligned: orZero(count()),
      quarantined: orZero(count()),
      rejected: orZero(count()),
      otherwise: orZero(count()),
      belief: text<Belief>(),
      /** What its reports state (days/stated-policy.ts), as tags of a DMARC record; null when none does. */
      policy: orNull(text()),
      /** A cache of what addresses sent (domain/sources/stored-sources.ts); null: not counted now. */
      sources: orNull(bytes()),
    },
    keys: ['primary key (domain_id, day, belief)'],
    // Each report changes it.
    storage: 'fillfactor = 60',
  },

  /** A reporter that authenticated a report about a domain of an account, and when first. They go with the account: whoever has a domain adds one row. */
  reporter: {
    columns: {
      account_id: id('references account (id)'),
      name: text(),
      authenticated_at: instant(),
    },
    keys: ['primary key (account_id, name)'],
  },
} as const;
