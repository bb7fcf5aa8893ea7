/*
 * Who sends in a domain's name, in the words of somebody who knows: which sender is the owner's, and since when it fails. What
 * the product should answer follows from that alone, in a model that has no idea of reports, verdicts or addresses.
 */

/** Days ago, of which 1 is the newest. */
type Ago = number;

/** A sender of the owner's. */
export interface OwnSender {
  readonly addresses: readonly string[];
  readonly ptr?: string | undefined;
  readonly daily: number;
  /** It sends on each so many days; the last one is `last` days ago. */
  readonly every: number;
  readonly last: Ago;
  /** What receivers say of its mail: `spf=pass:own dkim=pass:own:s1`. */
  readonly good: string;
  readonly bad: string;
  /** The days of which mail is bad: from the first on until the last, in days ago. */
  readonly fails?: readonly [first: Ago, last: Ago] | undefined;
  /** Its good mail passes by SPF alone. */
  readonly isUnsigned?: boolean;
  /** Its name in DNS, or the service that it is, shows whose it is, also where nothing passes. */
  readonly isNamed?: boolean;
}

/** Somebody else's mail. */
export interface Forgery {
  readonly addresses: (day: Ago) => readonly string[];
  readonly ptr?: string;
  /** Messages of a day, of all addresses. */
  readonly daily: number;
  /** `*` is the number of the address. */
  readonly results: string;
  readonly days?: readonly [first: Ago, last: Ago];
  /** Said by mails that nobody authenticates. */
  readonly isDoubtful?: boolean;
}

export interface PlainDomain {
  readonly name: string;
  readonly policy: 'none' | 'quarantine' | 'reject';
  /** How many days have reports. */
  readonly days: number;
  readonly senders: readonly OwnSender[];
  readonly forgeries: readonly Forgery[];
}

export const sendsOn = ({ every, last }: OwnSender, day: Ago): boolean =>
  day >= last && (day - last) % every === 0;

export const isBadOn = ({ fails }: OwnSender, day: Ago): boolean =>
  fails !== undefined && day <= fails[0] && day >= fails[1];

/** What is looked at: a month, and before mail is refused 120 days. */
const MONTH = 30;
const HISTORY = 120;
/** What a sender does now: its last 20 messages, or its last 7 days. */
const LAST_MESSAGES = 20;
const LAST_DAYS = 7;

interface Sent {
  readonly day: Ago;
  readonly messages: number;
  readonly failed: number;
}

function listSent(sender: OwnSender, within: number): readonly Sent[] {
  const days = Array.from({ length: within }, (_, i) => i + 1).filter((day) =>
    sendsOn(sender, day),
  );
  return days.map((day) => {
    const { daily: messages } = sender;
    return { day, messages, failed: isBadOn(sender, day) ? messages : 0 };
  });
}

const sum = (sent: readonly Sent[], of: 'messages' | 'failed') =>
  sent.reduce((all, one) => all + one[of], 0);

/** Half of its last messages fail, or more than a few in a hundred of its last days. */
function isFailing(sender: OwnSender, within: number): boolean {
  const sent = listSent(sender, within);
  const end = sent.findIndex((_, i) => sum(sent.slice(0, i + 1), 'messages') >= LAST_MESSAGES);
  const last = end === -1 ? sent : sent.slice(0, end + 1);
  if (sum(last, 'failed') > 0 && 2 * sum(last, 'failed') >= sum(last, 'messages')) return true;
  const days = sent.filter(({ day }, i) => day <= LAST_DAYS || i < last.length);
  return sum(days, 'failed') > 1 && 20 * sum(days, 'failed') > sum(days, 'messages');
}

/** Where nothing passes of a month, or of what was sent last, and no name tells whose it is, nobody but its owner knows. */
function isKnown(sender: OwnSender, days: number): boolean {
  const spans = [MONTH, HISTORY].map((within) => listSent(sender, Math.min(days, within)));
  const sent = spans.find(({ length }) => length > 0) ?? [];
  return sender.isNamed === true || sum(sent, 'failed') < sum(sent, 'messages');
}

/** The policy that comes next is for all of the owner's mail that is sent now, `reject` also for what was sent in four months. */
function findFailing({ policy, days, senders }: PlainDomain): readonly OwnSender[] {
  const spans = policy === 'quarantine' ? [MONTH, HISTORY] : [MONTH];
  return senders.filter((one) => spans.some((within) => isFailing(one, Math.min(days, within))));
}

/** So many messages that rest on SPF alone matter. */
const MIN_UNSIGNED = 10;

function restsOnSpf(sender: OwnSender): boolean {
  const sent = sender.isUnsigned ? listSent(sender, MONTH) : [];
  return sum(sent, 'messages') - sum(sent, 'failed') >= MIN_UNSIGNED;
}

interface Expected {
  readonly answer: 'reached' | 'yes' | 'not_yet';
  readonly step: 'failing' | 'sign' | 'stronger' | 'nothing';
}

/** undefined where a sender fails of which nobody but its owner knows. */
export function toExpected(domain: PlainDomain): Expected | undefined {
  const isThere = domain.policy === 'reject';
  const failing = findFailing(domain);
  if (failing.some((one) => !isKnown(one, domain.days))) return undefined;
  const isFailing = failing.length > 0;
  const isUnsigned = domain.senders.some(restsOnSpf);
  const step = isFailing ? 'failing' : isUnsigned ? 'sign' : isThere ? 'nothing' : 'stronger';
  const answer = isThere ? 'reached' : isFailing || isUnsigned ? 'not_yet' : 'yes';
  return { answer, step };
}
