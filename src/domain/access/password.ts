import { randomUUID } from 'node:crypto';
import pLimit from 'p-limit';
import { Failure } from '../failure.ts';

const MIN_LENGTH = 12;
/** Longer than any passphrase. Without a maximum, a request could make hashing take any time. */
const MAX_LENGTH = 200;

/** OWASP's recommendation for argon2id: 19 MiB, two passes, one lane. The library's default is argon2id too. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Native code, loaded when the first password is hashed or verified. */
const loadArgon2 = () => import('@node-rs/argon2');

/** Half of libuv's four threads: compression and file reads need the others. */
const MAX_RUNNING = 2;
/** About a third of a second of hashing. */
const MAX_WAITING = 20;
/** Hashing occupies a thread of a pool that the whole process shares. */
const inTurn = createQueue();

export const PASSWORD_RULE = `A password has ${MIN_LENGTH} to ${MAX_LENGTH} characters.`;

/**
 * The argon2id hash (PHC text). Throws `validation_error` for a password that is too short or too long, which are the
 * only rules, and `unavailable` when too many requests wait.
 */
export async function hashPassword(password: string): Promise<string> {
  const { length } = [...password];
  if (length < MIN_LENGTH || length > MAX_LENGTH)
    throw new Failure('validation_error', PASSWORD_RULE);
  const { hash } = await loadArgon2();
  return await inTurn(() => hash(normalise(password), COST));
}

/**
 * Whether a password matches the hash. Without a hash (the person is unknown, disabled or has no password yet) the
 * answer is no and takes as long. Throws `unavailable` when too many requests wait for hashing.
 */
export async function isPassword(password: string, passwordHash: string | null): Promise<boolean> {
  if ([...password].length > MAX_LENGTH) return false;
  const { hash, verify } = await loadArgon2();
  // Computed for known people too, so that a first call takes equally long for everybody.
  unknownHash ??= hash(randomUUID(), COST);
  const fallback = await unknownHash;
  const known = passwordHash ?? fallback;
  const isRight = await inTurn(() => verify(known, normalise(password)));
  return isRight && passwordHash !== null;
}

let unknownHash: Promise<string> | undefined;

/** The same characters typed on another keyboard may arrive as other code points (RFC 8265, 4.2). */
function normalise(password: string): string {
  return password.normalize('NFKC');
}

/**
 * Runs a few tasks at a time that each occupy a thread. Throws `unavailable` when too many are waiting.
 *
 * @internal A test gives it other limits.
 */
export function createQueue(maxRunning = MAX_RUNNING, maxWaiting = MAX_WAITING) {
  const limit = pLimit(maxRunning);
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (limit.activeCount + limit.pendingCount >= maxRunning + maxWaiting)
      throw new Failure(
        'unavailable',
        'Too many people are signing in right now. Please try again in a few seconds.',
      );
    return await limit(work);
  };
}
