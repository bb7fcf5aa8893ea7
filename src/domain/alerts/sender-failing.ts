import { addDays } from '../instant.ts';
import { addUpDays, type CountedDay, findMainSighting } from '../senders/latest.ts';
import type { Signature } from '../sources/evidence.ts';
import type { FailureCause } from '../sources/failure-cause.ts';
import { formatCount, formatDay, MAX_TITLE, pluralize, toSafeText } from '../text.ts';
import { alignmentRegression, findLasting } from './alignment-regression.ts';
import type { AlertContext } from './context.ts';
import type { CommonFacts } from './facts.ts';
import {
  type AlertRule,
  type Cause,
  isFresh,
  isWatched,
  listOfType,
  type Occurrence,
} from './rule.ts';
import { listFailures, type SenderDays, type SenderFailure } from './sender-failures.ts';
import type { Thresholds } from './thresholds.ts';

export const SENDER_FAILING = 'alert.sender_failing';

interface Facts extends CommonFacts {
  /** Senders of which messages failed. */
  readonly senders: readonly SenderDays[];
  readonly cause?: FailureCause | undefined;
}

/** A sender whose mail passed sends mail that fails, whatever its share of the mail. */
export const senderFailing: AlertRule<typeof SENDER_FAILING, Facts> = {
  type: SENDER_FAILING,
  findOccurrences: (facts, thresholds) =>
    facts.senders.flatMap((sender) =>
      listFailures(sender, facts.days, thresholds)
        .filter((failure) => !isTold(failure, sender, facts, thresholds))
        .filter((failure) => mayFire(failure, sender, facts, thresholds))
        .map((failure) => toOccurrence(failure, sender)),
    ),
  // The days on which it passed are not looked back on any more.
  findEnding: ({ context }, { days }, t) =>
    String(context['since']) < (days.at(-t.regressionDays)?.day ?? '') ? 'new_normal' : undefined,
  explain: (facts, thresholds) => {
    const open = senderFailing
      .findOccurrences(facts, thresholds)
      .filter(({ ending }) => ending === null);
    const { senderMessages, senderPercent, baselineDays, regressionDays } = thresholds;
    return [
      ...(open.length === 0
        ? ['Not open.']
        : open.map(({ context }) => `Open: ${describe(context)}`)),
      `It fires when ${senderPercent} % of a sender's last ${senderMessages} messages fail, on at most ${regressionDays} data days, and ${senderPercent} % of ${senderMessages} or more passed on the ${baselineDays} data days before.`,
      `It resolves when ${senderPercent} % of its last ${senderMessages} messages pass, or when ${regressionDays} data days have passed.`,
    ];
  },
  title: 'Sender stopped passing',
  describe,
  advice: 'A sender whose mail passed sends mail that fails: find out why.',
  findCause,
  urgency: 3,
  link: 'sources',
  isLasting: true,
};

/** Whether the alert of a drop of the pass rate names it: one that lasts, or while it failed one that has ended since. */
function isTold(failure: SenderFailure, sender: SenderDays, facts: Facts, t: Thresholds): boolean {
  if (failure.ending === null)
    return isNamed(facts.cause, sender) && findLasting(facts, t) !== undefined;
  const end = failure.sent.at(-1)?.day ?? failure.since;
  return listOfType(facts, alignmentRegression.type).some(
    ({ context: { day, cause } }) =>
      isNamed(cause as FailureCause | undefined, sender) &&
      String(day) >= failure.since &&
      String(day) <= end,
  );
}

function isNamed(cause: FailureCause | undefined, { service, addresses }: SenderDays): boolean {
  if (cause === undefined) return false;
  return cause.service === null ? addresses.includes(cause.sender) : cause.service === service;
}

/** As of a day that is recent, or where it has fired: reports that came between others may have resolved it too early. */
function mayFire(
  { days, since, sent }: SenderFailure,
  { key }: SenderDays,
  facts: Facts,
  t: Thresholds,
) {
  if (days.some((day) => isFresh(day, facts, t))) return true;
  const [from, to] = [addDays(since, -t.regressionDays), sent.at(-1)?.day ?? since];
  const hasFired = listOfType(facts, SENDER_FAILING).some(({ subject, context, isOpen }) => {
    const day = String(context['since']);
    return subject === key && (isOpen || (day >= from && day <= to));
  });
  return hasFired && days.some((day) => isWatched(day, facts.watchedSince));
}

function toOccurrence(failure: SenderFailure, { key, title, addresses }: SenderDays): Occurrence {
  const { since, sent, ending, wasSigned } = failure;
  const { messages, failed } = addUpDays(sent);
  const [address, another] = addresses;
  const context = {
    sender: toSafeText(title, MAX_TITLE),
    source_ip: another === undefined ? (address ?? null) : null,
    since,
    message_count: messages,
    failed_count: failed,
    ...toCause(sent, wasSigned),
  };
  return { subject: key, ending, context };
}

/** Why most of what failed did. */
const CAUSES = {
  signature_broken: (selector) =>
    `Its signature does not verify${selector ? ` (selector ${selector})` : ''}: compare its key in DNS with the one that signs.`,
  not_signed: () => 'It does not sign its mail any more: turn signing on.',
  spf_error: () => 'Receivers cannot read the SPF record: mend it.',
  spf_refuses: () => 'SPF does not list it: add it.',
} as const satisfies Record<string, (selector: string | undefined) => string>;

/** @internal A test compares it with the contract. */
export type CauseCode = keyof typeof CAUSES;

function toCause(sent: readonly CountedDay[], wasSigned: boolean) {
  const seen = findMainSighting(sent)?.seen;
  if (seen === undefined) return { selector: null, cause: null };
  const own = seen.dkim.find((one) => isBroken(one, seen.headerFrom));
  if (wasSigned && own !== undefined)
    return { selector: own.selector, cause: 'signature_broken' satisfies CauseCode };
  const { result } = seen.spf;
  const spf: CauseCode | null = result?.endsWith('error') ? 'spf_error' : 'spf_refuses';
  const cause = wasSigned && spf !== 'spf_error' ? ('not_signed' satisfies CauseCode) : spf;
  return { selector: null, cause: result === 'pass' && !wasSigned ? null : cause };
}

function isBroken({ domain, result }: Signature, from: string | null): boolean {
  if (!domain || !from || result === 'pass' || result === 'none') return false;
  return domain === from || domain.endsWith(`.${from}`) || from.endsWith(`.${domain}`);
}

function describe(context: AlertContext): string {
  return findCause(context)?.text ?? '';
}

function findCause(context: AlertContext): Cause | undefined {
  const { sender, since, message_count: messages, failed_count: failed } = context;
  if (typeof sender !== 'string' || typeof since !== 'string') return undefined;
  const { selector, cause } = context;
  const why = Object.hasOwn(CAUSES, String(cause)) ? CAUSES[cause as CauseCode] : undefined;
  const told = why?.(typeof selector === 'string' ? toSafeText(selector, MAX_TITLE) : undefined);
  const counts = `${formatCount(Number(failed))} of ${pluralize(Number(messages), 'message')}`;
  const text = `${sender} stopped passing on ${formatDay(since)}: ${counts} since failed. ${told ?? 'Find out why.'}`;
  return { sender, text };
}
