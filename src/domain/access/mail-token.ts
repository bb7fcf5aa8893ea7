import { randomInt } from 'node:crypto';

/** A local part for an account's report address: 82 random bits. Lower case, as some mail servers change the case. */
export function createMailToken(): string {
  return Array.from({ length: 16 }, () => randomInt(36).toString(36)).join('');
}

/** Whether a local part can be a token, so that others need no look-up. */
export function isMailToken(text: string): boolean {
  return /^[a-z0-9]{16}$/.test(text);
}
