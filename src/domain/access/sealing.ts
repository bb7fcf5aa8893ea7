import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** Encrypts secrets that have to be read again, unlike passwords. */
export interface Sealing {
  /** `about` names what the secret belongs to; a sealed text cannot be moved to another. */
  readonly seal: (secret: string, about: string) => string;
  /** Throws for another key, another `about` or a changed text. */
  readonly unseal: (sealed: string, about: string) => string;
}

/** Opens the installation's key. Throws when it is not there. */
export type OpenSealing = (options?: {
  /** Whether the key is read again, in case the file was restored or replaced. */
  readonly isFresh?: boolean;
  /** Called without a key. Returns whether one may be made: not while a stored secret needs the missing one. */
  readonly mayMake?: () => Promise<boolean>;
}) => Promise<Sealing>;

export const SEALING_KEY_BYTES = 32;
const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = 'v1.';

/** AES-256-GCM with a random nonce, under a key for this purpose that is derived from the installation's. */
export function createSealing(installationKey: Uint8Array, purpose: string): Sealing {
  const key = Buffer.from(hkdfSync('sha256', installationKey, '', `plumbline ${purpose}`, 32));
  const seal = (secret: string, about: string) => {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(about));
    const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    return VERSION + Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url');
  };
  const unseal = (sealed: string, about: string) => {
    if (!sealed.startsWith(VERSION)) throw new Error('A sealed secret has an unknown form.');
    const bytes = Buffer.from(sealed.slice(VERSION.length), 'base64url');
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const cipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(about));
    cipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    const text = cipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([text, cipher.final()]).toString('utf8');
  };
  return { seal, unseal };
}
