import { createPublicKey } from 'node:crypto';
import { listTags } from './dns-record.ts';

/* The key of a selector (RFC 6376, 3.6.1; RFC 8463). */

export interface KeyFound {
  readonly state: 'found' | 'missing' | 'revoked' | 'invalid';
  /** null where it is not known. */
  readonly bits: number | null;
  readonly findings: readonly KeyFinding[];
}

export type KeyFinding =
  | ('several' | 'bad_version' | 'bad_type' | 'bad_key')
  | ('short' | 'test_mode' | 'sha1_only' | 'not_for_mail');

/** Receivers take no RSA key of fewer bits (RFC 8301, 3.2). */
export const MIN_BITS = 1024;
/** A key of 16,384 bits has 2,800. */
const MAX_CHARS = 4_000;

/** `texts` are the TXT records at the selector's name. */
export function readKey(texts: readonly string[]): KeyFound {
  if (texts.length === 0) return { state: 'missing', bits: null, findings: [] };
  const keys = texts.map(listTags).filter((tags) => tags.some(([name]) => name === 'p'));
  const [found = { state: 'invalid', bits: null, findings: ['bad_key'] } as const] =
    keys.map(readTags);
  return keys.length < 2 ? found : { ...found, findings: ['several', ...found.findings] };
}

function readTags(tags: ReturnType<typeof listTags>): KeyFound {
  const { v, k = 'rsa', p = '', h = 'sha256', s = '*', t = '' } = Object.fromEntries(tags);
  const invalid = (why: KeyFinding) => ({ state: 'invalid', bits: null, findings: [why] }) as const;
  // The version is the first tag, where there is one.
  if (v !== undefined && (v !== 'DKIM1' || tags[0]?.[0] !== 'v')) return invalid('bad_version');
  if (p === '') return { state: 'revoked', bits: null, findings: [] };
  if (k !== 'rsa' && k !== 'ed25519') return invalid('bad_type');
  const bits = k === 'rsa' ? findRsaBits(p) : findEd25519Bits(p);
  if (bits === undefined) return invalid('bad_key');
  const has = (list: string, ...words: string[]) =>
    list
      .toLowerCase()
      .split(':')
      .some((one) => words.includes(one));
  const faults: Partial<Record<KeyFinding, boolean>> = {
    short: k === 'rsa' && bits < MIN_BITS,
    test_mode: has(t, 'y'),
    sha1_only: !has(h, 'sha256'),
    not_for_mail: !has(s, '*', 'email'),
  };
  const findings = (Object.keys(faults) as KeyFinding[]).filter((one) => faults[one]);
  return { state: 'found', bits, findings };
}

/** Some publish the bare key (PKCS #1), as RFC 6376 has it, and most what OpenSSL writes. */
function findRsaBits(text: string): number | undefined {
  const key = toBytes(text);
  for (const type of ['spki', 'pkcs1'] as const)
    try {
      const found = createPublicKey({ key, format: 'der', type });
      return found.asymmetricKeyType === 'rsa'
        ? found.asymmetricKeyDetails?.modulusLength
        : undefined;
    } catch {}
  return undefined;
}

const findEd25519Bits = (text: string) => (toBytes(text).length === 32 ? 256 : undefined);

const toBytes = (text: string) =>
  Buffer.from(text.length <= MAX_CHARS && /^[A-Za-z\d+/]+=*$/.test(text) ? text : '', 'base64');
