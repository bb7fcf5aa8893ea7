import { addUp, type Counts, failedOf, isDrop } from '../alerts/rate.ts';
import type { ToOrganizationalDomain } from '../dns/organizational-domain.ts';
import { remember } from '../remember.ts';
import { parsePattern } from '../reports/source-pattern.ts';
import { addSafely } from '../safe-sum.ts';
import type { GroupName } from './groups.ts';

interface SourceOfDays extends Counts {
  readonly address: string;
  readonly patterns: ReadonlyMap<string, number>;
}

interface MailOfSomeDays {
  readonly sources: readonly SourceOfDays[];
  /** How many days had reports. */
  readonly days: number;
}

export interface FailureCause {
  readonly group: GroupName;
  /** The addresses whose messages failed since, most first. */
  readonly addresses: readonly string[];
  readonly before: Counts;
  readonly since: Counts;
  /** A signature of the domain that was valid before, and is missing or invalid since. `aligned` has the messages with it. */
  readonly signature?: SignatureChange;
}

export interface SignatureChange {
  readonly domain: string;
  readonly selector: string | null;
  readonly before: Counts;
  readonly since: Counts;
}

interface CauseContext {
  /** The monitored domain. */
  readonly domain: string;
  readonly toGroup: (address: string) => GroupName;
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
  const toSenders = ({ sources }: MailOfSomeDays) =>
    Map.groupBy(sources, ({ address }) => context.toGroup(address).key);
  const former = toSenders(before);
  const senders = [...toSenders(since)].map(([key, sources]) => {
    const known = former.get(key) ?? [];
    const [was, is] = [addUp(known), addUp(sources)];
    const more = failedOf(is) - (failedOf(was) * since.days) / before.days;
    return { known, sources, was, is, more: Math.max(0, more) };
  });
  const [most] = senders.sort((a, b) => b.more - a.more);
  const all = senders.reduce((sum, { more }) => sum + more, 0);
  if (most === undefined || most.more === 0 || most.more < all / 2) return undefined;
  const { known, sources, was, is } = most;
  if (2 * failedOf(is) < is.messages && !hasDropped(was, is)) return undefined;
  const addresses = sources
    .filter((source) => failedOf(source) > 0)
    .sort((a, b) => failedOf(b) - failedOf(a))
    .map(({ address }) => address);
  const group = context.toGroup(addresses[0] ?? '');
  return { group, addresses, before: was, since: is, ...findSignature(known, sources, context) };
}

function hasDropped(was: Counts, is: Counts): boolean {
  return was.messages > 0 && is.messages > 0 && isDrop(was, is, DROP);
}

/** The signature that most messages had before, if at least half of the failures are because it is missing. */
function findSignature(
  known: readonly SourceOfDays[],
  sources: readonly SourceOfDays[],
  context: CauseContext,
): Pick<FailureCause, 'signature'> {
  const [former, latter] = [addUpSigned(known, context), addUpSigned(sources, context)];
  const [most] = [...former.signed].sort(([, a], [, b]) => b - a);
  if (most === undefined) return {};
  const [key, aligned] = most;
  const before = { messages: former.messages, aligned };
  const since = { messages: latter.messages, aligned: latter.signed.get(key) ?? 0 };
  const missing = (aligned / before.messages) * since.messages - since.aligned;
  if (!hasDropped(before, since) || missing < failedOf(addUp(sources)) / 2) return {};
  const [domain, selector] = JSON.parse(key);
  return { signature: { domain, selector, before, since } };
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
