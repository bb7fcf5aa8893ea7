import type { Day } from '../instant.ts';
import { addTo, addUp, type Counts } from '../pass-rate.ts';
import { addSafely } from '../safe-sum.ts';
import type { Sighting } from '../sources/evidence.ts';
import type { Look } from './looks.ts';

/*
 * A sender is judged by its latest days, whatever its share of the mail: what it sends fails now or does not, and strangers
 * who inflate a total change nothing of it.
 */

/** What a sender sent on a day. */
export interface SentDay extends Counts {
  readonly day: Day;
  readonly dkimAligned: number;
  /** What failed, and how it looks. */
  readonly failed: readonly (Sighting & { readonly look: Look | undefined })[];
}

export interface Latest extends Counts {
  /** Whether it fails for a reason that its owner mends. */
  readonly isFailing: boolean;
  /** Messages that pass by SPF alone, where they are more than a few. */
  readonly unsigned: number;
  /** The first day of those on which nearly all failed until now, where it passed before; and what was sent since. */
  readonly stopped: (Counts & { readonly day: Day }) | undefined;
  /** What most of what fails has in common. */
  readonly cause: Sighting | undefined;
}

/** The last messages tell of a sudden change; the last days, of one that came slowly. */
const LAST_MESSAGES = 20;
/** Fewer in a hundred break on the way. */
const USUAL_PERCENT = 5;

/** `from` is the first of the latest days. */
export function findLatest(days: readonly SentDay[], from: Day): Latest {
  const counted = toCountedDays(days);
  const last = takeLast(counted);
  const latest = counted.filter(({ day }, i) => day >= from || i < last.length);
  const [end, sum] = [last, latest].map(addUpDays) as [SummedDays, SummedDays];
  const isSudden = 2 * end.failed >= end.messages;
  const isBroken = isSudden || isMuch(sum.failed, sum.messages);
  return {
    ...{ messages: sum.messages, aligned: sum.messages - sum.failed },
    isFailing: sum.failed > 0 && isBroken,
    unsigned: isTenth(sum.unsigned, sum.messages) ? sum.unsigned : 0,
    stopped: findStop(counted),
    cause: findMainSighting(isSudden ? last : latest),
  };
}

const isMuch = (failed: number, all: number) => failed > 1 && failed * 100 > all * USUAL_PERCENT;
const isTenth = (part: number, all: number) => part > 0 && 10 * part >= all;

/** What passed on a day, and what failed for a reason that the owner mends. */
export interface CountedDay {
  readonly day: Day;
  readonly messages: number;
  readonly failed: number;
  /** What passed by SPF alone. */
  readonly unsigned: number;
  readonly sightings: SentDay['failed'];
}

/** Newest first. */
export function toCountedDays(days: readonly SentDay[]): readonly CountedDay[] {
  const all = joinDays(days);
  const good = all.filter(({ aligned }) => aligned > 0);
  const usual = addUp(good).aligned / Math.max(1, good.length);
  return all.map((day) => countDay(day, usual));
}

/** What an owner mends. Others have passed the rest on, or DNS did not answer a receiver. */
const MENDABLE: ReadonlySet<Look | undefined> = new Set(['strict', 'foreign', 'refused', 'silent']);

/**
 * A receiver's DNS that does not answer is no fault of a sender whose other messages verify. What others pass on comes beside
 * what passes: on a day of which all fails, and as much as usual was sent, the sender itself breaks what it signed.
 */
function countDay({ day, aligned, dkimAligned, failed }: SentDay, usual: number): CountedDay {
  const broken = failed.filter(({ look }) => look === 'carried');
  const isStopped = aligned === 0 && usual > 0 && 2 * addUpMessages(broken) >= usual;
  const isCounted = (look: Look | undefined) =>
    MENDABLE.has(look) ||
    (look === 'unanswered' && usual === 0) ||
    (look === 'carried' && isStopped);
  const sightings = failed.filter(({ look }) => isCounted(look));
  const sum = addUpMessages(sightings);
  const messages = addSafely(aligned, sum);
  return { day, messages, failed: sum, unsigned: aligned - dkimAligned, sightings };
}

const addUpMessages = (all: readonly { readonly messages: number }[]) =>
  all.reduce((sum, { messages }) => addSafely(sum, messages), 0);

/** One of each day, newest first. */
function joinDays(days: readonly SentDay[]): readonly SentDay[] {
  const joined = [...Map.groupBy(days, ({ day }) => day)].map(([day, some]): SentDay => {
    const [only] = some;
    if (only !== undefined && some.length === 1) return only;
    const sum = { messages: 0, aligned: 0 };
    for (const one of some) addTo(sum, one);
    const dkimAligned = some.reduce((all, one) => addSafely(all, one.dkimAligned), 0);
    return { day, ...sum, dkimAligned, failed: some.flatMap(({ failed }) => failed) };
  });
  return joined.sort((a, b) => (a.day < b.day ? 1 : -1));
}

function takeLast(days: readonly CountedDay[]): readonly CountedDay[] {
  let messages = 0;
  const end = days.findIndex((day) => {
    messages = addSafely(messages, day.messages);
    return messages >= LAST_MESSAGES;
  });
  return end === -1 ? days : days.slice(0, end + 1);
}

type SummedDays = ReturnType<typeof addUpDays>;

export function addUpDays(days: readonly CountedDay[]) {
  const sum = { messages: 0, failed: 0, unsigned: 0 };
  for (const day of days)
    for (const key of ['messages', 'failed', 'unsigned'] as const)
      sum[key] = addSafely(sum[key], day[key]);
  return sum;
}

function findStop(days: readonly CountedDay[]): Latest['stopped'] {
  const sent = days.filter(({ messages }) => messages > 0);
  const end = sent.findIndex(({ failed, messages }) => 10 * failed < 9 * messages);
  const last = sent[end - 1];
  if (
    last === undefined ||
    addUpDays(sent.slice(end)).failed * 2 > addUpDays(sent.slice(end)).messages
  )
    return undefined;
  const { messages, failed } = addUpDays(sent.slice(0, end));
  return { day: last.day, messages, aligned: messages - failed };
}

/** The results of most messages. */
export function findMainSighting(days: readonly CountedDay[]): Sighting | undefined {
  const sums = new Map<string, { seen: Sighting['seen']; messages: number }>();
  for (const { seen, messages } of days.flatMap(({ sightings }) => sightings)) {
    const key = JSON.stringify([seen.spf.result, seen.dkim]);
    const sum = sums.get(key) ?? { seen, messages: 0 };
    sum.messages = addSafely(sum.messages, messages);
    sums.set(key, sum);
  }
  return [...sums.values()].sort((a, b) => b.messages - a.messages)[0];
}
