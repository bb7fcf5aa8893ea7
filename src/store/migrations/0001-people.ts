import type { AuditAction } from '../../domain/access/audit-actions.ts';
import type { Role } from '../../domain/access/person.ts';
import { bytes, count, flag, id, instant, orNull, orZero, seq, text } from './table.ts';

/* Who signs in to an account's pages, and how. Deleting a person deletes what belongs to the person. */

export const PEOPLE = {
  /** At most MAX_PEOPLE_PER_ACCOUNT; an owner or the operator deletes a person. */
  person: {
    columns: {
      id: id('primary key'),
      account_id: id('references account (id)'),
      /** The address as typed, and as it is compared: domain/access/person.ts. */
      email: text(),
      email_key: text('unique'),
      role: text<Role>("check (role in ('owner', 'member'))"),
      /** argon2id, PHC text; null until the person has chosen a password. */
      password_hash: orNull(text()),
      /** Issuer and subject at the OpenID provider, after the person has signed in there once. */
      single_sign_on: orNull(text('unique')),
      disabled: flag(),
      created_at: instant(),
      last_signed_in_at: orNull(instant()),
    },
    keys: ['index person_account (account_id)'],
  },

  /**
   * One for each sign-in, whose rate is limited. Ends by itself after 30 days, and is deleted when anybody signs in after
   * that; earlier when the person signs out, or somebody ends it.
   */
  session: {
    columns: {
      id: id('primary key'),
      person_id: id('references person'),
      /** The hash of the token in the browser's cookie. */
      sha256: bytes('unique'),
      created_at: instant(),
      last_seen_at: instant(),
      expires_at: instant(),
      address: text(),
      user_agent: text(),
      /** Whether the OpenID provider has authenticated the person: it also asks for further factors. */
      single_sign_on: flag(),
      /** The message that the next page shows once. */
      notice: orNull(text()),
    },
    keys: ['index session_person (person_id)'],
  },

  /** At most one that was shown and MAX_MAILED that were mailed for each person. A new password deletes all. */
  one_time_link: {
    columns: {
      sha256: bytes('primary key'),
      person_id: id('references person'),
      mailed: flag(),
      expires_at: instant(),
    },
    keys: ['index one_time_link_person (person_id, expires_at)'],
  },

  /**
   * The TOTP secret of a person (RFC 6238), at most one. Until a code has confirmed it, signing in does not ask for one.
   * Deleted when it is turned off or reset.
   */
  second_factor: {
    columns: {
      person_id: id('primary key references person'),
      /** Encrypted: domain/access/sealing.ts. */
      sealed_secret: text(),
      confirmed_at: orNull(instant()),
      /** The newest time step whose code was used: a code is accepted once. */
      last_step: orZero(count()),
    },
  },

  /** A code that replaces a TOTP code once, which deletes it. A person has at most RECOVERY_CODES. */
  recovery_code: {
    columns: { person_id: id('references person'), sha256: bytes() },
    clusteredBy: 'person_id, sha256',
  },

  /**
   * A person who has entered their password, and not yet the code of their second factor. One for each such sign-in, whose
   * rate is limited; the next one deletes those that have expired.
   */
  pending_sign_in: {
    columns: {
      /** The hash of the token in the browser's cookie. */
      sha256: bytes('primary key'),
      person_id: id('references person'),
      expires_at: instant(),
    },
    keys: ['index pending_sign_in_person (person_id)', 'index pending_sign_in_expiry (expires_at)'],
  },

  /**
   * What was done in an account. What it was done to may be gone since; its name stays. An alert adds two rows, a change
   * by a person or an operator one. They go by age (`PLUMBLINE_KEEP_AUDIT_DAYS`), and with the account.
   */
  audit: {
    columns: {
      seq: seq(),
      account_id: id('references account (id)'),
      at: instant(),
      /** A person's e-mail address, `operator`, or `plumbline` for what it did by itself. */
      actor: text(),
      action: text<AuditAction>(),
      /** What it was done to: the name of a key or a domain, a person's e-mail address. */
      subject: text(),
      /** What else there is to say, such as a key's prefix; empty when there is nothing. */
      detail: text(),
      /** null for a command. */
      address: orNull(text()),
    },
    keys: ['index audit_list (account_id, seq)'],
    postgres: ['primary key (seq)'],
  },
} as const;
