import type { ToOrganizationalDomain } from '../dns/organizational-domain.ts';
import { addUp, type Counts, failedOf, isDrop } from '../pass-rate.ts';
import { remember } from '../remember.ts';
import { parsePattern } from '../reports/source-pattern.ts';
import { addSafely } from '../safe-sum.ts';

interface SourceOfDays extends Counts {
  readonly address: string;
  readonly patterns: Iterable<readonly [pattern: string, messages: number]>;
}

interface MailOfSomeDays {
  readonly sources: readonly SourceOfDays[];
  /** How many days had reports. */
  readonly days: number;
}

/** A part of an alert's context, as the API has it. */
export interface FailureCause {
  /** The service's name, else the address. */
  readonly sender: string;
  readonly service: string | null;
  /** The address whose messages failed since; null when there are several. */
  readonly source_ip: string | null;
  readonly message_count: number;
  readonly failed_count: number;
  /** A signature of the domain's owner that was valid before, and is missing or invalid since; null when there is none. */
  readonly selector: string | null;
  readonly signing_domain: string | null;
}

interface CauseContext {
  /** The monitored domain. */
  readonly domain: string;
  /** The name of the service that sends from an address. */
  readonly toService: (address: string) => string | undefined;
  readonly toOrganizationalDomain: ToOrganizationalDomain;
}

/** A pass rate that fell by fewer points says nothing. */
const DROP = 10;

/**
 * The sender of at least half of the messages that fail since a day and did not before. It fails in most of its messages,
 * or passes less than before; undefined when there is no such sender.
 */
export function findCause(
  before: MailOfSomeDays,
  since: MailOfSomeDays,
  context: CauseContext,
): FailureCause | undefined {
  if (before.days === 0) return undefined;
  const toSender = remember((address: string) => context.toService(address) ?? address);
  const toSenders = ({ sources }: MailOfSomeDays) =>
    Map.groupBy(sources, ({ address }) => toSender(address));
  const former = toSenders(before);
  const senders = [...toSenders(since)].map(([sender, sources]) => {
    const known = former.get(sender) ?? [];
    const [was, is] = [addUp(known), addUp(sources)];
    const more = failedOf(is) - (failedOf(was) * since.days) / before.days;
    return { sender, known, sources, was, is, more: Math.max(0, more) };
  });
  const [most] = senders.sort((a, b) => b.more - a.more);
  const all = senders.reduce((sum, { more }) => sum + more, 0);
  if (most === undefined || most.more === 0 || most.more < all / 2) return undefined;
  const { sender, known, sources, was, is } = most;
  if (2 * failedOf(is) < is.messages && !hasDropped(was, is)) return undefined;
  const [failing, another] = sources.filter((source) => failedOf(source) > 0);
  return {
    sender,
    service: context.toService(failing?.address ?? '') ?? null,
    source_ip: another === undefined ? (failing?.address ?? null) : null,
    message_count: is.messages,
    failed_count: failedOf(is),
    ...findSignatures(known, sources, context),
  };
}

function hasDropped(was: Counts, is: Counts): boolean {
  return was.messages > 0 && is.messages > 0 && isDrop(was, is, DROP);
}

const NO_SIGNATURE = { selector: null, signing_domain: null };

/** The one that is missing since, or the one that has taken its place and fails. */
function findSignatures(
  known: readonly SourceOfDays[],
  sources: readonly SourceOfDays[],
  context: CauseContext,
): Pick<FailureCause, 'selector' | 'signing_domain'> {
  const former = findSignature(known, sources, context);
  return former === NO_SIGNATURE ? former : (findFailingSignature(sources, context) ?? former);
}

/** The signature on most of what fails since, which is of the owner and does not verify: after a change of keys, the new one. */
function findFailingSignature(
  sources: readonly SourceOfDays[],
  { domain, toOrganizationalDomain }: CauseContext,
): Pick<FailureCause, 'selector' | 'signing_domain'> | undefined {
  const own = toOrganizationalDomain(domain);
  const sums = new Map<string, number>();
  for (const [text, messages] of sources.flatMap(({ patterns }) => [...patterns])) {
    const { dkim, spf, isDkimAligned } = parsePattern(text);
    if (isDkimAligned || spf.isAligned) continue;
    const broken = dkim.find((one) => one.domain && toOrganizationalDomain(one.domain) === own);
    if (broken === undefined) continue;
    const key = JSON.stringify([broken.domain, broken.selector]);
    sums.set(key, addSafely(sums.get(key) ?? 0, messages));
  }
  const [most] = [...sums].sort(([, a], [, b]) => b - a);
  if (most === undefined || 2 * most[1] < failedOf(addUp(sources))) return undefined;
  const [signing_domain, selector] = JSON.parse(most[0]);
  return { selector, signing_domain };
}

/** The signature that most messages had before, if at least half of the failures are because it is missing. */
function findSignature(
  known: readonly SourceOfDays[],
  sources: readonly SourceOfDays[],
  context: CauseContext,
): Pick<FailureCause, 'selector' | 'signing_domain'> {
  const [former, latter] = [addUpSigned(known, context), addUpSigned(sources, context)];
  const [most] = [...former.signed].sort(([, a], [, b]) => b - a);
  if (most === undefined) return NO_SIGNATURE;
  const [key, aligned] = most;
  const before = { messages: former.messages, aligned };
  const since = { messages: latter.messages, aligned: latter.signed.get(key) ?? 0 };
  const missing = (aligned / before.messages) * since.messages - since.aligned;
  if (!hasDropped(before, since) || missing < failedOf(addUp(sources)) / 2) return NO_SIGNATURE;
  const [signing_domain, selector] = JSON.parse(key);
  return { selector, signing_domain };
}

/** Messages whose pattern is known, and how many of them each signature of the domain's owner was valid for. */
function addUpSigned(
  sources: readonly SourceOfDays[],
  { domain, toOrganizationalDomain }: CauseContext,
) {
  const own = toOrganizationalDomain(domain);
  const parse = remember(parsePattern);
  const signed = new Map<string, number>();
  let all = 0;
  for (const { patterns } of sources)
    for (const [text, messages] of patterns) {
      all = addSafely(all, messages);
      const valid = parse(text).dkim.filter(
        (one) => one.result === 'pass' && one.domain && toOrganizationalDomain(one.domain) === own,
      );
      for (const key of new Set(valid.map((one) => JSON.stringify([one.domain, one.selector]))))
        signed.set(key, addSafely(signed.get(key) ?? 0, messages));
    }
  return { messages: all, signed };
}
