import type { DKIMVerifyResult } from 'mailauth';
import { loadOwnerDomains } from '../../domain/dns/organizational-domain.ts';
import { parseDomainName } from '../../domain/domain-name.ts';
import { Refusal } from '../../domain/reports/refusal.ts';
import { isKnownAddress, type Signed } from '../../domain/reports/reporters.ts';
import { Budget } from '../budget.ts';
import { isMultipart, parseMimeHeader } from '../containers/mime.ts';
import { toBuffer } from '../content.ts';
import { WarningLog } from '../warnings.ts';
import { createOfflineResolver } from './answers.ts';
import type { Claim, Verification } from './claim.ts';
import { type MailToCheck, splitMail } from './header.ts';
import {
  type Author,
  hashBody,
  listKeyNames,
  readSignatures,
  type Signatures,
  toQueriedName,
} from './signatures.ts';
import { createKeyResolver, findSubmitter, mayHaveTls } from './tls-mail.ts';
import { listTrustedResults, type Result } from './trusted-results.ts';

/** Says who sent a mail, by the same header and body that the reader then reads. Throws nothing that a mail causes. */
export async function checkMail(bytes: Uint8Array, claim: Claim): Promise<Verification> {
  const budget = new Budget(bytes.length, {}, claim);
  const dns = createOfflineResolver(claim.answers);
  try {
    const mail = toBuffer(bytes);
    const { isOpen, from, ...signed } = await findSender(mail, { ...claim, budget, dns });
    const questions = isOpen ? dns.listMissing() : [];
    const isUnknown = isOpen && dns.isUnanswered();
    return { ...signed, from: isUnknown ? undefined : from, questions, cost: budget.cost };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { isOpen, ...nobody } = NOBODY;
    return { ...nobody, questions: [], cost: budget.cost };
  }
}

interface Check extends Claim {
  readonly budget: Budget;
  readonly dns: ReturnType<typeof createOfflineResolver>;
}

const NOBODY = { from: '', signers: [], submitter: undefined, isOpen: false };

interface Found extends Signed {
  readonly from: string;
  /** Whether DNS may say more that counts. */
  readonly isOpen: boolean;
}

/** Nothing is hashed before all is known that DNS says, and nothing at all when SPF says enough. */
async function findSender(bytes: Buffer, check: Check): Promise<Found> {
  const mail = splitMail(bytes, check.budget);
  if (mail === undefined || !hasClaim(mail, check)) return NOBODY;
  const isTls = mayHaveTls(mail);
  const { resolver, isTlsOnly } = createKeyResolver(check.dns.resolve, isTls);
  const curTime = new Date(check.receivedAt);
  const given = { resolver, curTime, trustedServers: check.trustedServers };
  const toOwner = await loadOwnerDomains();
  const signatures = await readSignatures(mail, { ...given, isOfAnyone: isTls }, toOwner);
  const { author } = signatures;
  if (author === undefined) return NOBODY;
  const names = listKeyNames(signatures);
  const keys = Promise.allSettled(names.map((name) => resolver(name, 'TXT')));
  const from = (await isAllowedSender(check, author)) ? author.from : '';
  await keys;
  const sent = { ...NOBODY, from, submitter: findSubmitter(mail) };
  if (from !== '' && !isTls) return sent;
  if (check.dns.listMissing().length > 0) return { ...sent, isOpen: true };
  await hashBody(signatures, mail, check.budget);
  const results = await listPassed({ mail, author, signatures, check }, given);
  const isAuthor = results.some(
    ({ name, key }) => author.isAligned(name) && !(key && isTlsOnly(key)),
  );
  const signers = results.filter(({ isSigned }) => isSigned).map(({ name }) => name);
  const isOpen = isTls ? signers.length === 0 : from === '' && !isAuthor;
  return { ...sent, from: isAuthor ? author.from : from, signers, isOpen };
}

interface Hashed {
  readonly mail: MailToCheck;
  readonly author: Author;
  readonly signatures: Signatures;
  readonly check: Check;
}

/** Whose signatures passed; and what servers of the operator's found, which do not say of how much of the body a signature is. */
async function listPassed(
  { mail, author, signatures, check }: Hashed,
  given: Omit<Parameters<typeof listTrustedResults>[2], 'isSealed'>,
): Promise<(Result & { readonly key?: string })[]> {
  const passed = signatures.results
    .filter((one) => isWhole(one, { mail, author, check }))
    .map((one) => ({ name: one.signingDomain ?? '', isSigned: true, key: toQueriedName(one) }));
  const isSealed = isWhole(signatures.arc.lastEntry?.messageSignature, { mail, author, check });
  const trusted = await listTrustedResults(mail.fields, signatures, { ...given, isSealed });
  const parts = signatures.signatureHeaders.filter(({ maxBodyLength }) => maxBodyLength !== '');
  const isPart = (name: string) =>
    parts.some(({ signingDomain }) => parseDomainName(signingDomain) === name);
  return [
    ...passed,
    ...trusted.map((one) => ({ ...one, isSigned: one.isSigned && !isPart(one.name) })),
  ];
}

const CLAIMS = new Set(['dkim-signature', 'arc-seal', 'authentication-results']);

const hasClaim = ({ fields }: MailToCheck, { client }: Claim): boolean =>
  client !== undefined || fields.some(({ name }) => CLAIMS.has(name));

/**
 * Whether a signature that passed says what the report is: what the body is when its type is not signed may be anybody's. An
 * address that sends nothing but reports needs no signed type, and Google signs none.
 */
function isWhole(
  signature: DKIMVerifyResult['results'][number] | undefined,
  given: { readonly mail: MailToCheck; readonly author: Author; readonly check: Check },
): boolean {
  if (signature?.status.result !== 'pass') return false;
  const { mail, author, check } = given;
  const signed = (signature.signingHeaders?.keys ?? '').toLowerCase().split(': ');
  const log = new WarningLog();
  const { type } = parseMimeHeader(mail.header, { budget: check.budget, log }, true);
  const needed = isKnownAddress(author.from) ? 1 : isMultipart({ type }) ? 2 : SIGNED.length;
  const isIn = (all: readonly string[], name: string) => all.filter((one) => one === name).length;
  const names = mail.fields.map(({ name }) => name);
  return SIGNED.slice(0, needed).every((name) => isIn(names, name) === isIn(signed, name));
}

/** The fields that say who sent a mail, where in it the report is, and in what form that is when it is the only part. */
const SIGNED = ['from', 'content-type', 'content-transfer-encoding', 'mime-version'];

/** RFC 7208, 4.6.4. */
const MAX_SPF_QUESTIONS = 10;

/** Whether SPF allows the client to use the domain of the envelope's sender, or of HELO when there is none, and the author has that. */
async function isAllowedSender(check: Check, author: Author): Promise<boolean> {
  const { client, sender, helo, dns, budget } = check;
  const domain = parseDomainName(sender === '' ? helo : sender.slice(sender.lastIndexOf('@') + 1));
  if (client === undefined || domain === undefined || !author.isAligned(domain)) return false;
  budget.addMember();
  const { spf } = (await import('mailauth/lib/spf/index.js')).default;
  const given = { sender: `postmaster@${domain}`, ip: client, helo, resolver: dns.resolve };
  const { status } = await spf({ ...given, maxResolveCount: MAX_SPF_QUESTIONS });
  return status.result === 'pass';
}
