import { listFailures } from './alerts/sender-failures.ts';
import { DEFAULT_THRESHOLDS } from './alerts/thresholds.ts';
import type { PolicyStep } from './dns/policy-steps.ts';
import { addDays, type Day, type DayRange, daysBetween } from './instant.ts';
import { addUp, type Counts, failedOf } from './pass-rate.ts';
import { isOwnVerdict } from './readiness.ts';
import { addSafely } from './safe-sum.ts';
import { addUpDays, type SentDay, toCountedDays } from './senders/latest.ts';
import type { Sender } from './senders/sender.ts';
import { sortFirst } from './sort.ts';

/* What changed of a domain's senders, its policy and its reporters, in a week and in thirty days (decision 132). */

const MONTH = 30;
export const WINDOWS = [7, MONTH] as const;
/** Days that are read: who is new in the longest window sent nothing in as many days before. */
export const COMPARED_DAYS = 90;

/** Those that need a person first come first. */
export const CHANGE_KINDS = [
  ...(['failing_sender', 'stopped_sender', 'policy_change', 'new_sender'] as const),
  ...(['mended_sender', 'unrecognised_sender', 'stopped_reporter', 'new_reporter'] as const),
] as const;

export interface DomainChange {
  readonly kind: (typeof CHANGE_KINDS)[number];
  /** The day on which it became a change, by which a window has it. */
  readonly noted: Day;
  readonly since: Day;
  readonly sender?: Pick<Sender, 'key' | 'title'>;
  /** What the sender sent in the days that the change is about. */
  readonly counts?: Counts;
  /** null for one without a name. */
  readonly reporter?: string | null;
  readonly step?: PolicyStep;
}

interface Source extends Counts {
  readonly firstDay: Day;
  readonly sender: Sender;
  readonly sent: readonly SentDay[];
}

export interface Compared {
  /** The days that were read, and the first of all that have reports. */
  readonly range: DayRange;
  readonly oldest: Day;
  readonly sources: readonly Source[];
  /** The days that each reporter reported of, oldest first. */
  readonly reporters: ReadonlyMap<string | null, readonly Day[]>;
  readonly steps: readonly PolicyStep[];
}

const { senderMessages: MIN_MESSAGES } = DEFAULT_THRESHOLDS;
const MIN_REPORT_DAYS = 3;
/** Senders that nobody recognises, those with most messages: the others are strangers. */
const MAX_UNRECOGNISED = 10;
/** Senders of the owner's whose days are looked at one by one, those that fail most. */
const MAX_FAILING = 50;

/** Windows end with a day that may be later than the domain's own. */
export function findChanges(compared: Compared, to: Day) {
  const { sources, reporters, steps } = compared;
  const senders = Map.groupBy(sources, ({ sender }) => sender);
  const { own = [], unrecognised = [], stranger = [] } = Object.groupBy(senders, toGroup);
  const failing = sortFirst(own, ([a], [b]) => failedOf(b) - failedOf(a), MAX_FAILING);
  const unrecognisedNew = unrecognised
    .flatMap((of) => findTurnsOf(of, compared))
    .filter(({ kind, noted }) => kind === 'new_sender' && noted > addDays(to, -MONTH))
    .map((one) => ({ ...one, kind: 'unrecognised_sender' as const }));
  const byMessages = (a: { counts: Counts }, b: { counts: Counts }) =>
    b.counts.messages - a.counts.messages;
  const asked = sortFirst(unrecognisedNew, byMessages, MAX_UNRECOGNISED);
  const listed = new Set(asked.map(({ sender }) => sender.key));
  const others = unrecognised.filter(([{ key }]) => !listed.has(key));
  const strangers = [...stranger, ...others].flatMap(([, of]) => of);
  const data = [...new Set(sources.flatMap(({ sent }) => sent.map(({ day }) => day)))].sort();
  const all: readonly DomainChange[] = [
    ...failing.flatMap((of) => findFailures(of, data)),
    ...own.flatMap((of) => findTurnsOf(of, compared)),
    ...asked,
    ...[...reporters].flatMap(([reporter, days]) => {
      const turns = findTurns(
        days.map((day) => [day, 1]),
        MIN_REPORT_DAYS,
        compared,
      );
      return turns.map(({ kind, ...turn }) => ({
        kind: `${kind}_reporter` as const,
        ...turn,
        reporter,
      }));
    }),
    ...steps.map((step) => ({
      kind: 'policy_change' as const,
      noted: step.day,
      since: step.day,
      step,
    })),
  ];
  return WINDOWS.map((days) => {
    const from = addDays(to, 1 - days);
    const changes = all.filter(({ noted }) => noted >= from);
    return { days, from, to, changes, strangers: sumStrangers(strangers, from) };
  });
}

function toGroup([{ verdict, isScattered }]: OfSender) {
  if (isOwnVerdict({ verdict })) return 'own';
  if (verdict === 'passed_on') return 'passed_on';
  return verdict === 'not_recognised' && !isScattered ? 'unrecognised' : 'stranger';
}

export type Window = ReturnType<typeof findChanges>[number];

function sumStrangers(strangers: readonly Source[], from: Day) {
  const sent = strangers.flatMap((one) => one.sent.filter(({ day }) => day >= from));
  const sources = strangers.filter(({ firstDay }) => firstDay >= from).length;
  return { sources, messages: failedOf(addUp(sent)) };
}

type OfSender = readonly [sender: Sender, sources: readonly Source[]];

function findTurnsOf([{ key, title }, sources]: OfSender, compared: Compared) {
  const sent = Map.groupBy(
    sources.flatMap((one) => one.sent),
    ({ day }) => day,
  );
  const days = [...sent].map(([day, some]) => [day, addUp(some).messages] as const);
  const turns = findTurns(
    days.sort(([a], [b]) => (a < b ? -1 : 1)),
    MIN_MESSAGES,
    compared,
  );
  const of = { sender: { key, title }, counts: addUp(sources) };
  return turns.map(({ kind, ...turn }) => ({ kind: `${kind}_sender` as const, ...turn, ...of }));
}

/** A domain that is known for fewer days has nobody who is new. */
const KNOWN_DAYS = 7;
/** Fewer days do not say how often somebody sends; nobody has stopped after a shorter silence. */
const MIN_SENT_DAYS = 4;
const MIN_SILENCE = 7;

/** Whether somebody is new, and has stopped, by what they sent on their days, oldest first. */
function findTurns(
  days: readonly (readonly [day: Day, amount: number])[],
  least: number,
  { range, oldest }: Compared,
) {
  const [[since = ''] = [], [last = ''] = []] = [days.at(0), days.at(-1)];
  let sum = 0;
  const noted = days.find(([, amount]) => {
    sum = addSafely(sum, amount);
    return sum >= least;
  })?.[0];
  if (noted === undefined) return [];
  const gaps = days.slice(1).map(([day], i) => daysBetween(days[i]?.[0] ?? day, day));
  const silent = addDays(last, Math.max(MIN_SILENCE, 2 * Math.max(...gaps, 0)));
  const isKnown = since >= addDays(oldest, KNOWN_DAYS) && since >= addDays(range.from, MONTH);
  const isNew = isKnown && daysBetween(since, noted) < MONTH;
  const hasStopped = days.length >= MIN_SENT_DAYS && silent <= range.to;
  return [
    ...(isNew ? [{ kind: 'new' as const, noted, since }] : []),
    ...(hasStopped ? [{ kind: 'stopped' as const, noted: silent, since: last }] : []),
  ];
}

/** A failure lasts until it is mended, however long that takes. */
const THRESHOLDS = { ...DEFAULT_THRESHOLDS, regressionDays: COMPARED_DAYS };

/** By the rule of `alert.sender_failing` with its defaults; `data` are the days that have reports, oldest first. */
function findFailures([{ key, title }, sources]: OfSender, data: readonly Day[]) {
  if (failedOf(addUp(sources)) === 0) return [];
  const days = toCountedDays(sources.flatMap(({ sent }) => sent));
  const of = { key, title, service: undefined, addresses: [], days };
  const all = data.map((day) => ({ day }));
  return listFailures(of, all, THRESHOLDS).map(({ since, sent, ending, days: fired }) => {
    const { messages, failed } = addUpDays(sent);
    const isMended = ending === 'recovered';
    return {
      kind: isMended ? ('mended_sender' as const) : ('failing_sender' as const),
      noted: (isMended ? sent.at(-1)?.day : fired[0]) ?? since,
      ...{ since, sender: { key, title }, counts: { messages, aligned: messages - failed } },
    };
  });
}
