import { type Kysely, sql } from 'kysely';
import type { AccountPlan } from '../../domain/access/api-key.ts';
import type { Mark } from '../../domain/sources/source.ts';
import { INBOX } from './0001-inbox.ts';
import { LISTS } from './0001-lists.ts';
import { NOTIFY } from './0001-notify.ts';
import { PEOPLE } from './0001-people.ts';
import { REPORTS } from './0001-reports.ts';
import {
  address,
  bytes,
  count,
  createTables,
  day,
  flag,
  id,
  instant,
  isPostgres,
  orNull,
  orZero,
  seq,
  text,
  UPDATED_IN_PLACE,
} from './table.ts';

export const does = 'makes all tables';
export const locks = 'nothing: the database is empty';

export async function up(db: Kysely<never>): Promise<void> {
  await createTables(db, TABLES);
  // PostgreSQL's default compresses what has more than 2,000 bytes and moves it out of its row, at three writes instead
  // of one. A document's content is compressed already, and is in its row while both fit into a page.
  if (isPostgres(db))
    await sql`alter table document alter content set storage external`.execute(db);
}

/** The order of a domain's alerts, and on PostgreSQL their key. */
const LIST = 'domain_id, fired_at, seq';
const OPEN = 'where resolved_at is null';

/** The tables in the order in which they are made: a table comes after those that it refers to. */
export const TABLES = {
  /** Only the operator adds accounts, and deletes them (leaving/deleted-accounts.ts). */
  account: {
    columns: {
      seq: seq(),
      id: id('unique'),
      name: text(),
      plan: text<AccountPlan>("check (plan in ('free', 'pro'))"),
      created_at: instant(),
      /** Whether people who sign in with a password need a second factor. */
      second_factor_required: orZero(flag()),
      /** When an owner asked for its deletion, and who, by e-mail address; null when nobody does. */
      deletion_asked_at: orNull(instant()),
      deletion_asked_by: orNull(text()),
      /** The command that ends its deletion, once that has begun. */
      deletion_command: orNull(text()),
      /** The local part of its own address for reports: domain/access/mail-token.ts. */
      mail_token: text('unique'),
      domains_total: orZero(count()),
      domains_version: text(),
      /** The same of the list that has paused domains, too. */
      all_domains_version: text(),
      /** Another text whenever it gets or loses a domain. */
      names_version: orNull(text()),
      reports_total: orZero(count()),
      reports_version: text(),
      /** Another text with each other `days_version` of a domain. */
      days_version: orNull(text()),
      /** Another text whenever TLS reports of its active domains change. */
      tls_version: orNull(text()),
      alerts_total: orZero(count()),
      alerts_version: text(),
      /** The number of the change with which alerts were last removed: older cursors of them are no longer good. */
      alerts_removed: orZero(count()),
      /** The number and the nonce of its last change (lists/changes.ts). */
      changes: orZero(count()),
      changes_nonce: text(),
    },
    postgres: ['primary key (seq)'],
    storage: UPDATED_IN_PLACE,
  },

  /** At most MAX_KEYS_PER_ACCOUNT; people and operators delete them. */
  api_key: {
    columns: {
      id: id('primary key'),
      account_id: id('references account (id)'),
      name: text(),
      prefix: text(),
      sha256: bytes('unique'),
      enabled: flag(),
      created_at: instant(),
      last_used_at: orNull(instant()),
      expires_at: orNull(instant()),
    },
    keys: ['index api_key_account (account_id)'],
  },

  /**
   * A row without an account is an *unclaimed* domain: reports came in for it, and nobody has registered it. It
   * goes with its last report, and those are bounded (reports/aging/unclaimed.ts).
   */
  domain: {
    columns: {
      seq: seq(),
      id: id('unique'),
      account_id: orNull(id('references account (id)')),
      name: text('unique'),
      /** The name from its end to its beginning, for lists of the names below one (domains/domains.ts). */
      reversed: text(),
      status: text<'active' | 'paused'>("check (status in ('active', 'paused'))"),
      created_at: instant(),
      /** When the domain was last resumed: alerts start again from there. null when it was never paused. */
      watched_since: orNull(instant()),
      /** When its account lost it. */
      removed_at: orNull(instant()),
      /** The number of the account's change with which it was added or resumed last. */
      number: orZero(count()),
      /**
       * Its reports from this number on are not listed yet, or listed still (reports/listing.ts); null when all are as the
       * domain is.
       */
      listing_from: orNull(count()),
      last_report_at: orNull(instant()),
      /** A person has said so: whatever is sent in its name is forged. */
      sends_no_mail: orZero(flag()),
      reports_total: orZero(count()),
      reports_version: text(),
      /** Another text when days, or what is known of them, changed and no list of reports did (lists/heads.ts). */
      days_version: orNull(text()),
      /** The number of the account's change with which one was last removed: older cursors of the list are no longer good. */
      reports_removed: orZero(count()),
      /** The same of its TLS reports. Their version is another text, too, when one became believed; null: it never had one. */
      tls_total: orZero(count()),
      tls_version: orNull(text()),
      tls_removed: orZero(count()),
      /** The originals of the days before went by age, of reports up to this number (reports/aging/old-originals.ts). */
      originals_day: orNull(day()),
      originals_seq: orZero(count()),
      alerts_total: orZero(count()),
      alerts_version: text(),
      alerts_removed: orZero(count()),
    },
    keys: [
      'index domain_list (account_id, status, name)',
      'index domain_all (account_id, name)',
      'index domain_below (account_id, reversed, status)',
      'index domain_change (account_id, number)',
      'index domain_listing (id) where listing_from is not null',
    ],
    postgres: ['primary key (seq)'],
    storage: UPDATED_IN_PLACE,
  },

  /**
   * A domain whose record names an account's address, until an owner or the operator adds it; with `ignored_at`, one that
   * is not proposed again. Bounds of an account and of a day: domains/proposals.ts.
   */
  domain_proposal: {
    columns: {
      account_id: id('references account (id)'),
      name: text(),
      organizational_domain: text(),
      proposed_at: instant(),
      ignored_at: orNull(instant()),
    },
    keys: ['index domain_proposal_name (name)'],
    clusteredBy: 'account_id, name',
  },

  /**
   * Each rule fires at most once for a day or a subject of a domain, and at most one alert for each is open. An account
   * gets more with each day on which something is wrong. They go when their domain is removed from it, and stay otherwise:
   * clients have copies of them, and what they say outlives the reports that they are about.
   */
  alert: {
    columns: {
      seq: seq(),
      fired_at: instant(),
      resolved_at: orNull(instant()),
      /** The number of the account's change with which it fired or resolved, and of its last change (lists/changes.ts). */
      number: count(),
      last_change: count(),
      id: id(),
      account_id: id('references account (id)'),
      domain_id: id('references domain (id)'),
      type: text(),
      /** Distinguishes alerts of one type and domain that are open at the same time. */
      subject: text(),
      /** JSON object. */
      context: text(),
      /** What mail to people said fired; null while no person was told. */
      told_as: orNull(text()),
    },
    keys: [
      'unique (id)',
      // At most one open alert for each domain, type and subject, whichever process writes it.
      `unique index alert_open (domain_id, type, subject) ${OPEN}`,
      `index alert_list_open (account_id, fired_at, seq) ${OPEN}`,
      // It has all that filtered lists are counted from, and so has that of a type.
      'index alert_list_by_account_id (account_id, fired_at, seq, resolved_at)',
      'index alert_change_by_account (account_id, number)',
      'index alert_change_by_domain (domain_id, number)',
      'index alert_last_change (account_id, last_change)',
      'index alert_type_list (account_id, type, fired_at, seq, resolved_at)',
      'index alert_type_change (account_id, type, number)',
    ],
    sqlite: [`index alert_list_by_domain_id (${LIST})`],
    postgres: [`primary key (${LIST})`],
  },

  /**
   * The state of one of a domain's records in DNS, of all records that reports need to reach us (`route`), of TLS
   * reports and MTA-STS (`tls`), or of the SPF records and keys of senders (`senders`): at most one row of each type for a domain,
   * until it is removed from its account.
   */
  dns_record: {
    columns: {
      domain_id: id('references domain (id)'),
      record_type: text<'dmarc' | 'spf' | 'route' | 'tls' | 'senders'>(),
      checked_at: instant(),
      /** JSON: see domain/dns/dns-watch.ts, store/alerts/dns-records.ts, store/alerts/daily-checks.ts. */
      state: text(),
    },
    keys: ['primary key (domain_id, record_type)'],
  },

  /**
   * The name of a source in DNS, as it was when it was last looked up. A job looks up at most MAX_NAMES of a domain, and
   * deletes names of addresses that send no more (days/names.ts).
   */
  source_name: {
    columns: {
      domain_id: id('references domain (id)'),
      address: address(),
      /** Lower case, without a dot at the end. null when no name resolves back to the address, or no server answered. */
      name: orNull(text()),
      /** When to look it up again. */
      expires_at: instant(),
    },
    clusteredBy: 'domain_id, address',
  },

  /** What a person has said of a source, until a person takes it back or the domain is removed. At most MAX_MARKS of a domain. */
  source_mark: {
    columns: {
      domain_id: id('references domain (id)'),
      /** An address, or the key of a sender (domain/sources/mark-subject.ts). */
      subject: text(),
      mark: text<Mark>("check (mark in ('legitimate', 'unknown'))"),
      marked_at: instant(),
      /** A person's e-mail address. */
      marked_by: text(),
    },
    clusteredBy: 'domain_id, subject',
  },

  /** Which process does a share of the work, by the database's clock (work/leases.ts): a row for each job and shard. */
  lease: {
    columns: {
      /** The job and the shard: `alerts:7`. */
      name: text('primary key'),
      holder: orNull(text()),
      expires_at: orNull(instant()),
      /** When the last completed run began. */
      ran_at: orNull(instant()),
    },
    storage: UPDATED_IN_PLACE,
  },

  ...LISTS,
  ...PEOPLE,
  ...REPORTS,
  ...INBOX,
  ...NOTIFY,
} as const;
