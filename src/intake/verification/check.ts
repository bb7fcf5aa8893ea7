import type { DKIMVerifyResult } from 'mailauth';
import { loadOwnerDomains } from '../../domain/dns/organizational-domain.ts';
import { parseDomainName } from '../../domain/domain-name.ts';
import { Refusal } from '../../domain/reports/refusal.ts';
import { isKnownAddress } from '../../domain/reports/reporters.ts';
import { Budget } from '../budget.ts';
import { toBuffer } from '../containers/mail.ts';
import { isMultipart, parseMimeHeader } from '../containers/mime.ts';
import { WarningLog } from '../warnings.ts';
import { createResolver } from './answers.ts';
import type { Claim, Verification } from './claim.ts';
import { type MailToCheck, splitMail } from './header.ts';
import { type Author, hashBody, listKeyNames, readSignatures } from './signatures.ts';
import { listTrustedResults } from './trusted-results.ts';

/** Says who sent a mail, by the same header and body that the reader then reads. Throws nothing that a mail causes. */
export async function checkMail(bytes: Uint8Array, claim: Claim): Promise<Verification> {
  const budget = new Budget(bytes.length, {}, claim);
  const dns = createResolver(claim.answers);
  try {
    const from = await findFrom(toBuffer(bytes), { ...claim, budget, dns });
    const questions = from === '' ? dns.listMissing() : [];
    const isOpen = from === '' && dns.isUnanswered();
    return { from: isOpen ? undefined : from, questions, cost: budget.cost };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { from: '', questions: [], cost: budget.cost };
  }
}

interface Check extends Claim {
  readonly budget: Budget;
  readonly dns: ReturnType<typeof createResolver>;
}

/** Nothing is hashed before all is known that DNS says, and nothing at all when SPF says enough. */
async function findFrom(bytes: Buffer, check: Check): Promise<string> {
  const mail = splitMail(bytes, check.budget);
  if (mail === undefined || !hasClaim(mail, check)) return '';
  const { resolve: resolver, listMissing } = check.dns;
  const curTime = new Date(check.receivedAt);
  const given = { resolver, curTime, trustedServers: check.trustedServers };
  const signatures = await readSignatures(mail, given, await loadOwnerDomains());
  const { author } = signatures;
  if (author === undefined) return '';
  const names = listKeyNames(signatures);
  const keys = Promise.allSettled(names.map((name) => resolver(name, 'TXT')));
  const isSender = await isAllowedSender(check, author);
  await keys;
  if (isSender) return author.from;
  if (listMissing().length > 0) return '';
  await hashBody(signatures, mail, check.budget);
  const isSigned = signatures.results.some(
    (one) => author.isAligned(one.signingDomain) && isWhole(one, { mail, author, check }),
  );
  if (isSigned) return author.from;
  const isSealed = isWhole(signatures.arc.lastEntry?.messageSignature, { mail, author, check });
  const trusted = await listTrustedResults(mail.fields, signatures, { ...given, isSealed });
  return trusted.some(author.isAligned) ? author.from : '';
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
