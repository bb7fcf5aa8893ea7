import type { DKIMVerifyResult } from 'mailauth';
import { loadOwnerDomains } from '../../domain/dns/organizational-domain.ts';
import { parseDomainName } from '../../domain/domain-name.ts';
import type { Envelope } from '../../domain/incoming.ts';
import type { Instant } from '../../domain/instant.ts';
import { createNetworks, parseAddress } from '../../domain/network-address.ts';
import { isKnownAddress } from '../../domain/reports/reporters.ts';
import { type AskDns, createQuestions } from './questions.ts';
import { listTrustedResults } from './trusted-results.ts';
import { toVerifiable } from './verifiable.ts';

/**
 * The address of the mail's From, in lower case, when DKIM, ARC or SPF passed for a name that is aligned with it (RFC 9989);
 * empty when nothing says who sent it, undefined when DNS had no answer in time.
 */
export type VerifyMail = (mail: {
  readonly bytes: Uint8Array;
  readonly envelope: Envelope;
  readonly receivedAt: Instant;
}) => Promise<string | undefined>;

interface VerifierDeps {
  readonly ask: AskDns;
  /** The operator's servers, whose results are believed: names of Authentication-Results, and domains of ARC seals. */
  readonly trustedServers: readonly string[];
  /** Addresses and networks of the operator's relays. */
  readonly trustedNetworks: readonly string[];
  readonly deadlineMs?: number;
}

/** DKIM keys of fewer bits prove nothing (RFC 8301, 3.2). */
const MIN_KEY_BITS = 1024;
/** The longest address (RFC 5321, 4.5.3.1.3). */
const MAX_ADDRESS = 254;
/** RFC 7208, 4.6.4. */
const MAX_SPF_QUESTIONS = 10;

/** A client with such an address is in a network of the operator's. */
const PRIVATE = [
  ...['10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.168.0.0/16', '::1', 'fc00::/7', 'fe80::/10'],
];

/** Throws nothing that a mail causes. The library is loaded with the first mail that needs it: it takes 0.2 s and 34 MB. */
export function createVerifier({ ask, deadlineMs, ...deps }: VerifierDeps): VerifyMail {
  const isOwn = createNetworks([...PRIVATE, ...deps.trustedNetworks]);
  const findClient = ({ remoteAddress = '' }: Envelope): string | undefined => {
    const address = parseAddress(remoteAddress);
    return address === undefined || isOwn(address) ? undefined : address;
  };
  return async (mail) => {
    const verifiable = toVerifiable(mail.bytes);
    if (verifiable === undefined) return '';
    const client = findClient(mail.envelope);
    if (client === undefined && !verifiable.isSigned) return '';
    const questions = createQuestions(ask, deadlineMs);
    const from = await findFrom(verifiable.bytes, {
      envelope: mail.envelope,
      client,
      resolver: questions.resolve,
      curTime: new Date(mail.receivedAt),
      // Anybody can write the operator's results into a mail that did not pass the operator's server.
      trustedServers: client === undefined ? deps.trustedServers : [],
    });
    return from === '' && questions.isUnanswered() ? undefined : from;
  };
}

async function findFrom(bytes: Buffer, options: CheckOptions): Promise<string> {
  const { dkimVerify } = (await import('mailauth/lib/dkim/verify.js')).default;
  const { resolver, curTime, trustedServers } = options;
  const given = { resolver, curTime, minBitLength: MIN_KEY_BITS };
  const found = await dkimVerify(bytes, { ...given, rejectRsaSha1: true });
  const author = await findAuthor(found);
  if (author === undefined) return '';
  const { from, isAligned } = author;
  if (found.results.some((one) => isAligned(one.signingDomain) && isWhole(one, { from, found })))
    return from;
  const trusted = await listTrustedResults(found, trustedServers, given);
  if (trusted.some(isAligned)) return from;
  return isAligned(await findSender(options)) ? from : '';
}

interface CheckOptions {
  readonly envelope: Envelope;
  /** The address of a client that is not the operator's. */
  readonly client: string | undefined;
  readonly trustedServers: readonly string[];
  readonly resolver: (name: string, type: string) => Promise<string[]>;
  readonly curTime: Date;
}

/** Nothing is aligned with several From fields: the signed one is not the one that people see. */
async function findAuthor({ headerFrom, fromFields }: DKIMVerifyResult) {
  const [address = ''] = headerFrom;
  const at = address.lastIndexOf('@');
  const domain = parseDomainName(address.slice(at + 1));
  const isOne = fromFields === 1 && headerFrom.length === 1 && address.length <= MAX_ADDRESS;
  if (!isOne || domain === undefined) return undefined;
  const toOwnerDomain = await loadOwnerDomains();
  const isOwner = (name: string) => toOwnerDomain(name) === toOwnerDomain(domain);
  return {
    from: `${address.slice(0, at)}@${domain}`.toLowerCase(),
    isAligned: (name = '') => isOwner(parseDomainName(name) ?? ''),
  };
}

/**
 * Whether a signature that passed says what the report is: what follows the signed part of a body (`l=`) may be anybody's, and
 * so is what the body is when its type is not signed. An address that sends nothing but reports needs no signed type, and
 * Google signs none.
 */
function isWhole(
  { status, canonBodyLengthLimited, signingHeaders }: DKIMVerifyResult['results'][number],
  { from, found }: { readonly from: string; readonly found: DKIMVerifyResult },
): boolean {
  if (status.result !== 'pass' || canonBodyLengthLimited) return false;
  const fields = found.headers?.parsed ?? [];
  const signed = (signingHeaders?.keys ?? '').toLowerCase().split(': ');
  const count = (all: readonly string[], name: string) => all.filter((key) => key === name).length;
  const keys = fields.map(({ key }) => key);
  const isMultipart = fields.some(({ line }) => MULTIPART.test(line.toString('latin1')));
  const needed = isKnownAddress(from) ? 1 : isMultipart ? 2 : SIGNED.length;
  return SIGNED.slice(0, needed).every((name) => count(keys, name) === count(signed, name));
}

/** The fields that say who sent a mail, where in it the report is, and in what form that is when it is the only part. */
const SIGNED = ['from', 'content-type', 'content-transfer-encoding', 'mime-version'];
const MULTIPART = /^content-type\s*:\s*multipart\//i;

/** The domain of the envelope's sender, or of HELO when there is none, when SPF allows the client to use it. */
async function findSender({ envelope, client, resolver }: CheckOptions) {
  const { sender = '', helo = '' } = envelope;
  const domain = parseDomainName(sender === '' ? helo : sender.slice(sender.lastIndexOf('@') + 1));
  if (client === undefined || domain === undefined) return undefined;
  const { spf } = (await import('mailauth/lib/spf/index.js')).default;
  const given = { sender: `postmaster@${domain}`, ip: client, helo, resolver };
  const { status } = await spf({ ...given, maxResolveCount: MAX_SPF_QUESTIONS });
  return status.result === 'pass' ? domain : undefined;
}
