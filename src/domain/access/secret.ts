import { hash, randomBytes } from 'node:crypto';

/** Opaque text that grants access: a session's cookie, a one-time link. 256 random bits need no salt. */
export interface Secret {
  /** Given to one person once; never stored. */
  readonly token: string;
  readonly sha256: string;
}

export function createSecret(): Secret {
  const token = randomBytes(32).toString('base64url');
  return { token, sha256: hashSecret(token) };
}

/** SHA-256 (hex), the only form of a secret that is stored. */
export function hashSecret(token: string): string {
  return hash('sha256', token, 'hex');
}
