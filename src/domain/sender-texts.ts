import type { FailingSender, UnsignedSender } from './domain-facts.ts';
import { type Counts, failedOf } from './pass-rate.ts';
import type { ReasonCode } from './senders/sender.ts';
import type { Sighting, Signature } from './sources/evidence.ts';
import { formatCount, formatDay, MAX_TITLE, pluralize, toSafeText } from './text.ts';

/* What a sender does and what to do about it, in one or two sentences. Names come from reports and DNS. */

const nameOf = (text: string | null | undefined) => toSafeText(text ?? '', MAX_TITLE);

/** What happens, and what to do. */
export function describeSender(sender: FailingSender): string {
  const { title, verdict, latest, ...counts } = sender;
  const who = nameOf(title);
  if (verdict === 'not_recognised') return `Do you know ${who}? ${describeAsked(who, counts)}`;
  if (latest.stopped !== undefined) return describeStop(who, sender, latest.stopped);
  return `${describeState(who, sender)} ${describeRemedy(sender)}`;
}

/** “300 scattered addresses”, “People at …”, or one sender. */
function describeAsked(who: string, counts: Counts): string {
  const isMany = /^(?:[\d,]+ |People )/.test(who);
  const failed = describeFailed(counts, isMany ? 'their' : 'its');
  return `${toSentence(failed)} Mark ${isMany ? 'them' : 'it'} as legitimate or as unknown.`;
}

function describeStop(who: string, sender: FailingSender, stopped: Counts & { day: string }) {
  const all = pluralize(failedOf(stopped), 'message');
  const why = describeCause(sender.latest.cause);
  return `${who} stopped passing on ${formatDay(stopped.day)}: ${failedOf(stopped) === 1 ? 'the one message since failed' : `all ${all} since failed`}${why && ` (${why})`}. ${describeRemedy(sender)}`;
}

function describeState(who: string, { reason, latest, broken, ...counts }: FailingSender): string {
  const failed = describeFailed(counts);
  const why = describeCause(latest.cause);
  if (reason === 'name_is_own') return `${who} is yours by its name, and none of its mail passes.`;
  if (reason === 'service_as_itself')
    return `${who} sends mail of this domain as itself: ${failed}.`;
  if (reason === 'signed_as_sister')
    return `${who} is another domain of yours, and authenticates mail of this one: ${failed}.`;
  if (reason === 'private_address')
    return `${who} is a private address, of a machine of yours or of a relay at the receiver: ${failed}.`;
  if (broken !== undefined) {
    const selector = broken.selector ? ` (selector ${nameOf(broken.selector)})` : '';
    return `${who} signs as ${nameOf(broken.domain)}${selector}, and the signature does not verify. ${toSentence(failed)}`;
  }
  return `${who} is yours, and ${failed}${why && ` (${why})`}.`;
}

/** “SPF permerror”, or the selector of the signature that fails. */
function describeCause(cause: Sighting | undefined): string {
  if (cause === undefined) return '';
  const { spf } = cause.seen;
  const own = findOwn(cause);
  if (own !== undefined)
    return `DKIM ${nameOf(own.result)}${own.selector ? `, selector ${nameOf(own.selector)}` : ''}`;
  return spf.result === null || spf.result === 'pass' ? '' : `SPF ${nameOf(spf.result)}`;
}

/** The signature as the domain that does not verify. */
function findOwn({ seen: { dkim, headerFrom } }: Sighting): Signature | undefined {
  return dkim.find(({ domain, result }) => result !== 'pass' && isSame(domain, headerFrom));
}

const isSame = (domain: string | null, from: string | null) =>
  !!domain &&
  !!from &&
  (domain === from || domain.endsWith(`.${from}`) || from.endsWith(`.${domain}`));

const REMEDIES: Readonly<Partial<Record<ReasonCode, string>>> = {
  private_address:
    'Have it sign as the domain, since SPF cannot list it. If no machine of yours sends so, mark it as unknown.',
  signed_as_sister: 'Have it signed as this domain, which readers see.',
};

function describeRemedy({ reason, service, guide, latest, broken, fault }: FailingSender): string {
  const told = fault ?? REMEDIES[reason];
  if (told !== undefined) return told;
  const { dkim = [], spf } = latest.cause?.seen ?? {};
  const isKey = broken !== undefined && dkim.some(({ selector }) => selector === broken.selector);
  if (isKey || (latest.cause && findOwn(latest.cause)))
    return 'Compare its key in DNS with the one that signs.';
  if (spf?.result === 'permerror') return 'Mend the SPF record, which receivers cannot read.';
  if (guide !== undefined && reason === 'service_as_itself')
    return `Set up ${guide.term} at ${service?.name}.`;
  if (service === undefined) return 'Add it to SPF, and have it sign as the domain.';
  if (reason === 'service_as_itself') return `Set up DKIM for the domain at ${service.name}.`;
  return `Find out at ${service.name} why.`;
}

const toSentence = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;

function describeFailed(counts: Counts, whose = 'its'): string {
  const failed = failedOf(counts);
  if (counts.messages === 1) return `${whose} only message fails`;
  if (failed === counts.messages) return `all of ${whose} ${pluralize(failed, 'message')} fail`;
  return `${formatCount(failed)} of ${whose} ${pluralize(counts.messages, 'message')} ${failed === 1 ? 'fails' : 'fail'}`;
}

/** Which switch has to be turned so that a sender signs as the domain. */
export function describeUnsigned(sender: UnsignedSender, name: string): string {
  const { title, signature, service, guide } = sender;
  const who = nameOf(title);
  if (signature === undefined || signature.result === 'none')
    return `${who} does not sign its mail: have it sign with DKIM as ${name}.`;
  const domain = nameOf(signature.domain);
  if (signature.result === 'pass' && service !== undefined)
    return `${who} signs as ${domain}, not as ${name}: turn on DKIM for the domain at ${service.name}${guide ? ` (${guide.term})` : ''}.`;
  if (signature.result === 'pass')
    return `${who} signs as ${domain}, not as ${name}: turn on DKIM for ${name} there.`;
  const selector = signature.selector ? ` (selector ${nameOf(signature.selector)})` : '';
  if (service?.kind === 'security')
    return `${who} changes mail that was signed as ${domain}${selector}, so that no signature verifies: the gateway has to sign, after all changes. The key in DNS is right.`;
  return `${who} signs as ${domain}${selector}, and the signature does not verify: compare its key in DNS. If that is right, something changes the mail after it was signed, and has to sign instead.`;
}

/** What receivers did, by count: they need not do what a policy asks for. */
export function describeApplied({ applied }: FailingSender): string {
  const parts = [...applied]
    .sort(([, a], [, b]) => b - a)
    .map(
      ([disposition, messages]) =>
        `${DONE[disposition ?? ''] ?? nameOf(disposition)} ${formatCount(messages)}`,
    );
  return parts.length === 0 ? '' : ` Receivers ${parts.join(', ')}.`;
}

const DONE: Readonly<Record<string, string>> = {
  none: 'delivered',
  quarantine: 'held back as spam',
  reject: 'rejected',
  '': 'did not say what became of',
};
