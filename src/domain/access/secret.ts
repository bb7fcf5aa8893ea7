import { hash, randomBytes } from 'node:crypto';

/** Grants access: a session's cookie, a one-time link. The token is never stored. 256 random bits need no salt. */
export function createSecret() {
  const token = randomBytes(32).toString('base64url');
  return { token, sha256: hashSecret(token) };
}

/** SHA-256, the only form of a secret that is stored. */
export function hashSecret(token: string): Uint8Array {
  return hash('sha256', token, 'buffer');
}
