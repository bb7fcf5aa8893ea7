import { randomInt } from 'node:crypto';
import { hashSecret } from './secret.ts';

/** How many codes a person gets at once. */
export const RECOVERY_CODES = 10;
/** No letter or digit that looks like another one (Crockford's Base32). */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** 80 bits: a hash of that many needs no salt and no slow function. */
const LENGTH = 16;

/** A code that replaces one of the authenticator app once: `k3v9-0gqs-71mz-x4ht`. */
export function createRecoveryCode(): string {
  const random = Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]);
  return random.join('').replace(/(.{4})(?=.)/g, '$1-');
}

/** The stored form of a code as people type it; undefined for what is no code. */
export function hashRecoveryCode(text: string): string | undefined {
  const typed = text.toLowerCase().replace(/[\s-]/g, '').replaceAll('o', '0');
  const code = typed.replace(/[il]/g, '1');
  const isCode = code.length === LENGTH && [...code].every((c) => ALPHABET.includes(c));
  return isCode ? hashSecret(code) : undefined;
}
