import { randomInt } from 'node:crypto';

const LENGTH = 16;
const PATTERN = /^[a-z0-9]{16}$/;

/**
 * The local part of an account's own report address: 16 random letters and digits, which are 82 bits. Lower
 * case, because some mail servers change the case.
 */
export function createMailToken(): string {
  return Array.from({ length: LENGTH }, () => randomInt(36).toString(36)).join('');
}

/** Whether a local part can be a token, so that others need no look-up. */
export function isMailToken(text: string): boolean {
  return PATTERN.test(text);
}
