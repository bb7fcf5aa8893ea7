import { randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { Failure } from '../failure.ts';
import { hashSecret } from './secret.ts';

export type AccountPlan = 'free' | 'pro';

/** Disabled keys count. */
export const MAX_KEYS_PER_ACCOUNT = 10;

const KEY_PREFIX = 'plb_live_';
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
/** How much of a key is stored in the clear, so that people can recognise their keys. */
const DISPLAY_LENGTH = KEY_PREFIX.length + 4;
/** The sandbox's key has another prefix, and the same form. */
const KEY_PATTERN = /^plb_(?:live|test)_[0-9A-Za-z]{36}$/;

/** A new key: `plb_live_`, 30 random base62 characters, 6 of checksum. */
export function generateApiKey() {
  const random = Array.from({ length: RANDOM_LENGTH }, () => BASE62[randomInt(62)]).join('');
  const body = KEY_PREFIX + random;
  return toNewApiKey(body + checksumOf(body));
}

/** An existing key with what is stored of it: the whole `key` is shown once, and never stored. */
export function toNewApiKey(key: string) {
  return { key, prefix: key.slice(0, DISPLAY_LENGTH), sha256: hashSecret(key) };
}

/** Whether a text can be a key: pattern and checksum, so that a mistyped key needs no look-up. */
export function isApiKey(text: string): boolean {
  if (!KEY_PATTERN.test(text)) return false;
  return text.endsWith(checksumOf(text.slice(0, -CHECKSUM_LENGTH)));
}

/** Why an account cannot have a new key: it is not on Pro, or it has the maximum number. */
export function findKeyRefusal(plan: AccountPlan, keyCount: number): Failure | undefined {
  if (plan !== 'pro')
    return new Failure(
      'plan_required',
      'API keys are part of the Pro plan; this account is not on it.',
    );
  if (keyCount < MAX_KEYS_PER_ACCOUNT) return undefined;
  return new Failure(
    'limit_reached',
    `An account has at most ${MAX_KEYS_PER_ACCOUNT} API keys, disabled ones included. Delete one to make room.`,
  );
}

/** Throws that. A key to enable needs the plan only: it is counted already. */
export function assertCanHaveKey(plan: AccountPlan, keyCount = 0): void {
  const refusal = findKeyRefusal(plan, keyCount);
  if (refusal !== undefined) throw refusal;
}

/** CRC-32 of the text in base62, padded with `0` to six characters (62^6 is more than 2^32). */
function checksumOf(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
