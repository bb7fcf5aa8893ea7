import type { Signature } from 'mailauth/lib/dkim/dkim-verifier.js';
import type { ToOrganizationalDomain } from '../../domain/dns/organizational-domain.ts';
import { parseDomainName } from '../../domain/domain-name.ts';
import type { Budget } from '../budget.ts';
import { type MailToCheck, toCrLf } from './header.ts';

/** DKIM keys of fewer bits prove nothing (RFC 8301, 3.2). */
const MIN_KEY_BITS = 1024;
/** The longest address (RFC 5321, 4.5.3.1.3). */
const MAX_ADDRESS = 254;
/** More that could count are not looked at. */
const MAX_SIGNATURES = 4;

interface Options {
  readonly resolver: (name: string, type: string) => Promise<string[]>;
  readonly curTime: Date;
  readonly trustedServers: readonly string[];
  /** Whether signatures of other domains than the author's can count. */
  readonly isOfAnyone: boolean;
}

export interface Author {
  readonly from: string;
  /** Whether a name has the same owner as the domain of From. */
  readonly isAligned: (name?: string) => boolean;
}

export type Signatures = Awaited<ReturnType<typeof readSignatures>>;

/** The signatures of a mail that can count. Nothing is hashed yet. The library is loaded with the first mail that has one: it takes 0.2 s and 34 MB. */
export async function readSignatures(
  { fields, header }: MailToCheck,
  options: Options,
  toOwnerDomain: ToOrganizationalDomain,
) {
  const { DkimVerifier } = (await import('mailauth/lib/dkim/dkim-verifier.js')).default;
  class Verifier extends DkimVerifier {
    author: Author | undefined;
    readonly #counted = { own: 0, other: 0 };

    override prepareSignature(signature: Signature): void {
      this.author ??= toAuthor(this, toOwnerDomain);
      super.prepareSignature(signature);
      if (!this.#canCount(signature)) signature.skip = 'It cannot count.';
    }

    /** What follows the signed part of a body (`l=`) may be anybody's. */
    #canCount(signature: Signature): boolean {
      const { type, signingDomain, maxBodyLength, hashAlgo, skip, invalid } = signature;
      const isOwn = type === 'ARC' ? this.isSealTrusted : this.author?.isAligned(signingDomain);
      const isOf = isOwn || (options.isOfAnyone && type === 'DKIM');
      if (!isOf || maxBodyLength !== '' || hashAlgo === 'sha1' || skip || invalid) return false;
      const whose = isOwn ? 'own' : 'other';
      this.#counted[whose] += 1;
      return this.#counted[whose] <= MAX_SIGNATURES;
    }

    get isSealTrusted(): boolean {
      const seal = this.arc.lastEntry?.['arc-seal']?.parsed?.d?.value;
      return options.trustedServers.includes(`${seal}`.toLowerCase());
    }
  }
  const verifier = new Verifier({ ...options, minBitLength: MIN_KEY_BITS, rejectRsaSha1: true });
  // A server writes it when the mail has arrived, and the library would parse it.
  const signed = fields.filter(({ name }) => name !== 'return-path');
  const parsed = signed.map(({ name: key, text }) => {
    const line = Buffer.from(text.replaceAll(/\r?\n/g, '\r\n'), 'latin1');
    return { key, casedKey: text.slice(0, key.length), line };
  });
  await verifier.messageHeaders({ parsed, original: header });
  verifier.author ??= toAuthor(verifier, toOwnerDomain);
  return verifier;
}

/** Nothing is aligned with several From fields: the signed one is not the one that people see. */
function toAuthor(
  {
    headerFrom,
    fromFields,
  }: { readonly headerFrom: readonly string[]; readonly fromFields: number },
  toOwnerDomain: ToOrganizationalDomain,
): Author | undefined {
  const [address = ''] = headerFrom;
  const at = address.lastIndexOf('@');
  const domain = parseDomainName(address.slice(at + 1));
  const isOne = fromFields === 1 && headerFrom.length === 1 && address.length <= MAX_ADDRESS;
  if (!isOne || domain === undefined) return undefined;
  const owner = toOwnerDomain(domain);
  return {
    from: `${address.slice(0, at)}@${domain}`.toLowerCase(),
    isAligned: (name = '') => toOwnerDomain(parseDomainName(name) ?? '') === owner,
  };
}

/** The names of the keys that they need. */
export function listKeyNames({ signatureHeaders, arc, isSealTrusted }: Signatures): string[] {
  const counting = signatureHeaders.filter(({ skip }) => skip === undefined);
  const names = counting.map(toQueriedName);
  const seals = isSealTrusted ? (arc.chain || []).map((set) => set['arc-seal']?.parsed) : [];
  return [...names, ...seals.map((tags) => `${tags?.s?.value}._domainkey.${tags?.d?.value}`)];
}

/** The name by which the library asks for a signature's key. */
export const toQueriedName = (
  one: Partial<Pick<Signature, 'selector' | 'signingDomain'>>,
): string => `${one.selector}._domainkey.${one.signingDomain}`;

/** Hashes the body once for each way in which a signature that can count does it. */
export async function hashBody(
  signatures: Signatures,
  mail: MailToCheck,
  budget: Budget,
): Promise<void> {
  const counting = signatures.signatureHeaders.filter(({ skip }) => skip === undefined);
  const names = counting.map(({ parsed }) => `${parsed.h?.value}`.split(':').length);
  for (const count of names) budget.spend('compared', count * mail.fields.length);
  const hashes = signatures.bodyHashes.size;
  budget.spend('hashedByte', hashes * mail.body.length);
  if (hashes > 0) {
    const body = toCrLf(mail.body, budget);
    budget.spend('unevenLine', hashes * countUneven(body));
    // As one piece: the library would put pieces of a line together again and again.
    await signatures.nextChunk(body);
  }
  await signatures.finalChunk();
}

const [TAB, LF, CR, BLANK] = [9, 10, 13, 32];

/** The lines with blanks that a relaxed signature leaves out, each of which the library copies. */
function countUneven(body: Buffer): number {
  let [count, isUneven, before] = [0, false, 0];
  for (const byte of body) {
    if (byte === LF) {
      count += Number(isUneven);
      isUneven = false;
    } else if (byte === TAB || (before === BLANK && (byte === BLANK || byte === CR)))
      isUneven = true;
    before = byte;
  }
  return count + Number(isUneven);
}
