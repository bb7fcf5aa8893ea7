import { randomInt } from 'node:crypto';
import { hashSecret } from './secret.ts';

/* Time-based one-time passwords (RFC 6238) as authenticator apps make them: SHA-1, six digits, every 30 seconds. */

const PERIOD_SECONDS = 30;
const CODE = /^\d{6}$/;
const ISSUER = 'Plumbline';

/** Loaded for the first second factor: most requests need none. */
const loadOtplib = () => import('otplib');

/** A new secret of 160 bits, in Base32 (RFC 4226, section 4, R6). */
export async function createTotpSecret(): Promise<string> {
  const { generateSecret } = await loadOtplib();
  return generateSecret({ length: 20 });
}

/** What an authenticator app reads from the QR code. */
export async function toTotpUri(secret: string, email: string): Promise<string> {
  const { generateURI } = await loadOtplib();
  return generateURI({ issuer: ISSUER, label: email, secret });
}

/** A code as people type it: with blanks, as apps show it. undefined for what is no code. */
export function readTotpCode(text: string): string | undefined {
  const code = text.replace(/\s/g, '');
  return CODE.test(code) ? code : undefined;
}

/**
 * The time step of a code of this step, the one before or the next (RFC 6238, section 5.2); undefined for a wrong
 * code, and for one of `lastStep` or before, which was used already. The library compares in constant time.
 */
export async function findTotpStep(
  secret: string,
  code: string,
  { now, lastStep }: { readonly now: Date; readonly lastStep: number },
): Promise<number | undefined> {
  const epoch = Math.floor(now.getTime() / 1000);
  // The library throws for a last step in the future, which a clock that was set back leaves.
  if (lastStep > Math.floor(epoch / PERIOD_SECONDS) + 1) return undefined;
  const { verifySync } = await loadOtplib();
  const result = verifySync({
    secret,
    epoch,
    token: code,
    afterTimeStep: lastStep,
    period: PERIOD_SECONDS,
    epochTolerance: PERIOD_SECONDS,
  });
  return result.valid && 'timeStep' in result ? result.timeStep : undefined;
}

/** How many codes a person gets at once. */
export const RECOVERY_CODES = 10;
/** No letter or digit that looks like another one (Crockford's Base32). */
const RECOVERY_ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** 80 bits: a hash of that many needs no salt and no slow function. */
const RECOVERY_LENGTH = 16;

/** A code that replaces one of the authenticator app once: `k3v9-0gqs-71mz-x4ht`. */
export function createRecoveryCode(): string {
  const toRandom = () => RECOVERY_ALPHABET[randomInt(RECOVERY_ALPHABET.length)];
  const random = Array.from({ length: RECOVERY_LENGTH }, toRandom);
  return random.join('').replace(/(.{4})(?=.)/g, '$1-');
}

/** The stored form of a code as people type it; undefined for what is no code. */
export function hashRecoveryCode(text: string): Uint8Array | undefined {
  const typed = text.toLowerCase().replace(/[\s-]/g, '').replaceAll('o', '0');
  const code = typed.replace(/[il]/g, '1');
  const isCode =
    code.length === RECOVERY_LENGTH && [...code].every((c) => RECOVERY_ALPHABET.includes(c));
  return isCode ? hashSecret(code) : undefined;
}
