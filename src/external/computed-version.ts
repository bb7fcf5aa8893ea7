import { hash } from 'node:crypto';

/** A version of what is computed of values: the same for equal values, and for no others. */
export function hashVersion(values: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(values), 'base64url').slice(0, 20);
}
