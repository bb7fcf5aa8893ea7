import type { Generated, GeneratedAlways } from 'kysely';
import type { AuditAction } from '../../domain/access/audit-actions.ts';
import type { Role } from '../../domain/access/person.ts';
import type { Instant } from '../../domain/instant.ts';

export interface PersonTable {
  id: string;
  account_id: string;
  /** The address as typed, and as it is compared: domain/access/person.ts. */
  email: string;
  email_key: string;
  /** argon2id, PHC text; null until the person has chosen a password. */
  password_hash: string | null;
  /** Issuer and subject at the OpenID provider, after the person has signed in there once. */
  single_sign_on: string | null;
  disabled: 0 | 1;
  created_at: Instant;
  role: Role;
  last_signed_in_at: Generated<Instant | null>;
}

export interface SessionTable {
  id: string;
  person_id: string;
  sha256: Uint8Array;
  created_at: Instant;
  last_seen_at: Instant;
  expires_at: Instant;
  address: string;
  user_agent: string;
  /** The message that the next page shows once. */
  notice: string | null;
  /** Whether the OpenID provider has authenticated the person: it also asks for further factors. */
  single_sign_on: Generated<0 | 1>;
}

/** A person has at most one link: a new one replaces the old one. */
export interface OneTimeLinkTable {
  sha256: Uint8Array;
  person_id: string;
  expires_at: Instant;
}

/** The TOTP secret of a person (RFC 6238). Until a code has confirmed it, signing in does not ask for one. */
export interface SecondFactorTable {
  person_id: string;
  /** Encrypted: domain/access/sealing.ts. */
  sealed_secret: string;
  confirmed_at: Instant | null;
  /** The newest time step whose code was used: a code is accepted once. */
  last_step: Generated<number>;
}

/** A code that replaces a TOTP code once; its row is deleted then. */
export interface RecoveryCodeTable {
  person_id: string;
  sha256: Uint8Array;
}

/** A person who has entered their password, and not yet the code of their second factor. */
export interface PendingSignInTable {
  /** Of the token in the browser's cookie. */
  sha256: Uint8Array;
  person_id: string;
  expires_at: Instant;
}

/** What was done in an account. What it was done to may be gone since; its name stays. */
export interface AuditTable {
  seq: GeneratedAlways<number>;
  account_id: string;
  at: Instant;
  /** A person's e-mail address, `operator`, or `plumbline` for what it did by itself. */
  actor: string;
  action: AuditAction;
  /** What it was done to: the name of a key or a domain, a person's e-mail address. */
  subject: string;
  /** What else there is to say, such as a key's prefix; empty when there is nothing. */
  detail: string;
  /** null for a command. */
  address: string | null;
}
