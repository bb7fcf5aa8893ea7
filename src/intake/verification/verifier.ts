import type { DKIMVerifyResult } from 'mailauth';
import { loadOwnerDomains } from '../../domain/dns/organizational-domain.ts';
import { parseDomainName } from '../../domain/domain-name.ts';
import type { Envelope } from '../../domain/incoming.ts';
import type { Instant } from '../../domain/instant.ts';
import { createNetworks, parseAddress } from '../../domain/network-address.ts';
import { type AskDns, createQuestions } from './questions.ts';
import { listTrustedResults } from './trusted-results.ts';
import { toVerifiable } from './verifiable.ts';

/**
 * The names for which DKIM, ARC or SPF passed, of those that are aligned with the mail's From (RFC 9989): empty when
 * nothing says who sent it, undefined when DNS had no answer in time.
 */
export type VerifyMail = (mail: {
  readonly bytes: Uint8Array;
  readonly envelope: Envelope;
  readonly receivedAt: Instant;
}) => Promise<readonly string[] | undefined>;

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
    if (verifiable === undefined) return [];
    const client = findClient(mail.envelope);
    if (client === undefined && !verifiable.isSigned) return [];
    const questions = createQuestions(ask, deadlineMs);
    const names = await findNames(verifiable.bytes, {
      envelope: mail.envelope,
      client,
      resolver: questions.resolve,
      curTime: new Date(mail.receivedAt),
      // Anybody can write the operator's results into a mail that did not pass the operator's server.
      trustedServers: client === undefined ? deps.trustedServers : [],
    });
    return names.length === 0 && questions.isUnanswered() ? undefined : names;
  };
}

async function findNames(bytes: Buffer, options: CheckOptions): Promise<readonly string[]> {
  const { isAligned, names } = await findSigners(bytes, options);
  if (names.length > 0) return names;
  const sender = await findSender(options);
  return sender !== undefined && isAligned(sender) ? [sender] : [];
}

interface CheckOptions {
  readonly envelope: Envelope;
  /** The address of a client that is not the operator's. */
  readonly client: string | undefined;
  readonly trustedServers: readonly string[];
  readonly resolver: (name: string, type: string) => Promise<string[]>;
  readonly curTime: Date;
}

/** The names that signed the mail, and whether a name has the owner of the mail's From. */
async function findSigners(bytes: Buffer, { trustedServers, resolver, curTime }: CheckOptions) {
  const { dkimVerify } = (await import('mailauth/lib/dkim/verify.js')).default;
  const options = { resolver, curTime, minBitLength: MIN_KEY_BITS };
  const found = await dkimVerify(bytes, { ...options, rejectRsaSha1: true });
  const isAligned = await toIsAligned(found);
  const signed = found.results
    // What follows the signed part of a body (`l=`) may be anybody's.
    .filter(
      ({ status, canonBodyLengthLimited }) => status.result === 'pass' && !canonBodyLengthLimited,
    )
    .flatMap(({ signingDomain }) => parseDomainName(signingDomain ?? '') ?? [])
    .filter(isAligned);
  if (signed.length > 0) return { isAligned, names: [...new Set(signed)] };
  const trusted = await listTrustedResults(found, trustedServers, options);
  return { isAligned, names: [...new Set(trusted.filter(isAligned))] };
}

/** Nothing is aligned with several From fields: the signed one is not the one that people see. */
async function toIsAligned({ headerFrom, fromFields }: DKIMVerifyResult) {
  const [address = ''] = headerFrom;
  const from = parseDomainName(address.slice(address.lastIndexOf('@') + 1));
  if (fromFields !== 1 || headerFrom.length !== 1 || from === undefined) return () => false;
  const toOwnerDomain = await loadOwnerDomains();
  return (name: string) => toOwnerDomain(name) === toOwnerDomain(from);
}

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
