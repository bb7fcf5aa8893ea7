import { randomUUID } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { Failure } from './failure.ts';
import { createQueue } from './password-queue.ts';

const MIN_LENGTH = 12;
/** Far beyond any passphrase; without a bound, hashing would take as long as a stranger likes. */
const MAX_LENGTH = 200;

/** What OWASP asks of argon2id: 19 MiB, two passes, one lane. The library's default is argon2id too. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Hashing occupies a thread of a pool that the whole process shares. */
const inTurn = createQueue();

export const PASSWORD_RULE = `A password has ${MIN_LENGTH} to ${MAX_LENGTH} characters.`;

/** Refuses a new password that is too short or too long. Nothing else is asked: length is what counts. */
export function assertPassword(password: string): void {
  const length = [...password].length;
  if (length < MIN_LENGTH || length > MAX_LENGTH) {
    throw new Failure('validation_error', PASSWORD_RULE);
  }
}

/** The argon2id hash (PHC text) of a new password. Throws `unavailable` when too many wait for theirs. */
export async function hashPassword(password: string): Promise<string> {
  assertPassword(password);
  return await inTurn(() => hash(normalise(password), COST));
}

/**
 * Whether a password is the one that was hashed. Without a hash (an unknown or disabled person, one who was
 * never given a password) the answer is no, and takes as long. Throws `unavailable` when too many wait.
 */
export async function isPassword(password: string, passwordHash: string | null): Promise<boolean> {
  if ([...password].length > MAX_LENGTH) return false;
  // Awaited for everybody, so that the first to come waits for it whoever they are.
  const nobodysHash = await hashOfNobody();
  const known = passwordHash ?? nobodysHash;
  const isRight = await inTurn(() => verify(known, normalise(password)));
  return isRight && passwordHash !== null;
}

let nobody: Promise<string> | undefined;

/** The hash of a password that nobody has. */
function hashOfNobody(): Promise<string> {
  nobody ??= hash(randomUUID(), COST);
  return nobody;
}

/** The same characters, typed on another keyboard, may come as other code points (RFC 8265, 4.2). */
function normalise(password: string): string {
  return password.normalize('NFKC');
}
