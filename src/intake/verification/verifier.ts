import type { Envelope } from '../../domain/incoming.ts';
import type { Instant } from '../../domain/instant.ts';
import { createNetworks, parseAddress } from '../../domain/network-address.ts';
import { type DnsAnswer, type Question, toError, toKey } from './answers.ts';
import type { Claim, Verification } from './claim.ts';

/** Rejects with a `code`, as Node's resolver does. */
type AskDns = (name: string, type: string) => Promise<unknown[]>;

/** A mail whose sender is to be found. */
interface Sent {
  readonly bytes: Uint8Array;
  readonly envelope: Envelope;
  readonly receivedAt: Instant;
  readonly isBrief?: boolean;
}

/** Who sent each of these mails, in order. */
export type VerifyMails = (mails: readonly Sent[]) => Promise<readonly Verification[]>;

interface VerifierDeps {
  readonly ask: AskDns;
  /** Checks one mail with the answers that are there, in the process that parses. */
  readonly check: (bytes: Uint8Array, claim: Claim) => Promise<Verification>;
  /** The operator's servers, whose results are believed: names of Authentication-Results, and domains of ARC seals. */
  readonly trustedServers: readonly string[];
  /** Addresses and networks of the operator's relays. */
  readonly trustedNetworks: readonly string[];
  readonly deadlineMs?: number;
}

/** A client with such an address is in a network of the operator's. */
const PRIVATE = [
  ...['10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.168.0.0/16', '::1', 'fc00::/7', 'fe80::/10'],
];

/** SPF may ask ten questions, each of which may ask for ten names (RFC 7208, 4.6.4). Real records need a few. */
const MAX_QUESTIONS = 30;
/** How long DNS may take for all mails together. */
const DEADLINE_MS = 3_000;

/**
 * Mails are checked one after the other, and DNS is asked what all of them need at once, until none needs more: no mail waits for
 * another one's DNS longer than the deadline.
 */
export function createVerifier(deps: VerifierDeps): VerifyMails {
  const isOwn = createNetworks([...PRIVATE, ...deps.trustedNetworks]);
  const toClaim = ({ envelope, receivedAt, isBrief }: Sent) => {
    const address = parseAddress(envelope.remoteAddress ?? '');
    const client = address === undefined || isOwn(address) ? undefined : address;
    // Anybody can write the operator's results into a mail that did not pass the operator's server.
    const trustedServers = client === undefined ? deps.trustedServers : [];
    const { sender = '', helo = '' } = envelope;
    const answers = new Map<string, DnsAnswer>();
    const spending = { isBrief, isMailed: true, spent: 0 };
    return { client, sender, helo, receivedAt, trustedServers, answers, ...spending };
  };
  return async (mails) => {
    const all = mails.map((mail) => ({ ...mail, claim: toClaim(mail), verdict: NO_VERDICT }));
    let [left, leftMs] = [all, deps.deadlineMs ?? DEADLINE_MS];
    while (left.length > 0) {
      for (const one of left) one.verdict = await deps.check(one.bytes, one.claim);
      for (const { claim, verdict } of left) claim.spent = verdict.cost;
      left = left.filter(({ verdict }) => verdict.questions.length > 0);
      const begunAt = performance.now();
      await Promise.all(left.flatMap((one) => askAll(deps.ask, one, leftMs)));
      leftMs = Math.max(0, leftMs - (performance.now() - begunAt));
    }
    return all.map(({ verdict }) => verdict);
  };
}

const NO_VERDICT: Verification = { from: undefined, signers: [], questions: [], cost: 0 };

interface Checked {
  readonly claim: { readonly answers: Map<string, DnsAnswer> };
  readonly verdict: Verification;
}

const askAll = (ask: AskDns, { claim: { answers }, verdict }: Checked, leftMs: number) =>
  verdict.questions.map(async (question) => {
    const isTooMany = answers.size >= MAX_QUESTIONS;
    answers.set(toKey(question), { code: 'ETOOMANY' });
    if (!isTooMany) answers.set(toKey(question), await answer(ask, question, leftMs));
  });

/** More text than any record needs, in characters of JSON. It is sent to the process that parses. */
const MAX_ANSWER_CHARS = 16_384;

async function answer(ask: AskDns, { name, type }: Question, leftMs: number): Promise<DnsAnswer> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(toError('ETIMEOUT')), leftMs);
  // The answer may come later: who keeps it has it for the next mail.
  const asked = ask(name, type);
  asked.catch(() => undefined);
  try {
    const records = await Promise.race([asked, late]);
    return JSON.stringify(records).length > MAX_ANSWER_CHARS ? { code: 'EBADRESP' } : { records };
  } catch (error) {
    return { code: (error as NodeJS.ErrnoException).code ?? 'EFAILED' };
  } finally {
    clearTimeout(timer);
  }
}
