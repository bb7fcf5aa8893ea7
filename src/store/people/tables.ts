import type { GeneratedAlways } from 'kysely';
import type { Instant } from '../../domain/instant.ts';

/* The rows of people who sign in to the settings pages. */

export interface PersonTable {
  id: string;
  account_id: string;
  /** The address as typed, and as it is compared: domain/person.ts. */
  email: string;
  email_key: string;
  /** argon2id, PHC text; null until the person has chosen a password. */
  password_hash: string | null;
  /** Issuer and subject at the OpenID provider, after the person has signed in there once. */
  single_sign_on: string | null;
  disabled: 0 | 1;
  created_at: Instant;
}

export interface SessionTable {
  id: string;
  person_id: string;
  sha256: string;
  created_at: Instant;
  last_seen_at: Instant;
  /** The session ends then even when it is in use. */
  expires_at: Instant;
  address: string;
  user_agent: string;
  /** The message that the next page shows once. */
  notice: string | null;
}

/** A person has at most one link: a new one replaces the old one. */
export interface OneTimeLinkTable {
  sha256: string;
  person_id: string;
  expires_at: Instant;
}

export type AuditAction = 'created' | 'enabled' | 'disabled' | 'disabled_by_plan' | 'deleted';

/** What was done to a key. The key may be deleted since; name and prefix stay. */
export interface AuditTable {
  seq: GeneratedAlways<number>;
  account_id: string;
  at: Instant;
  /** A person's e-mail address, or `operator`. */
  actor: string;
  action: AuditAction;
  key_name: string;
  key_prefix: string;
  /** null for a command. */
  address: string | null;
}
