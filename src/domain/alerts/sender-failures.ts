import type { Day } from '../instant.ts';
import { addUpDays, type CountedDay } from '../senders/latest.ts';
import type { Resolution } from './resolution.ts';
import type { Thresholds } from './thresholds.ts';

/* When a sender failed whose mail passed before. Days are data days of the domain: on some it sent nothing. */

/** What a sender sent on the latest days that have data. */
export interface SenderDays {
  readonly key: string;
  readonly title: string;
  readonly service: string | undefined;
  /** Those of which messages failed. */
  readonly addresses: readonly string[];
  readonly days: readonly CountedDay[];
}

export interface SenderFailure {
  readonly first: number;
  readonly since: Day;
  /** The days as of which it would fire. */
  readonly days: Day[];
  readonly sent: CountedDay[];
  readonly wasSigned: boolean;
  ending: Resolution | null;
}

/** Evaluates each day as if it were the newest, so that the order of arrival does not matter. */
export function listFailures(
  sender: SenderDays,
  days: readonly { readonly day: Day }[],
  t: Thresholds,
): readonly SenderFailure[] {
  const byDay = new Map(sender.days.map((one) => [one.day, one]));
  const sent = days.map(({ day }) => byDay.get(day) ?? toNothing(day));
  const found: SenderFailure[] = [];
  for (const index of sent.keys()) {
    const open = found.at(-1);
    const start = findStart(sent, index, t);
    if (open?.ending === null) goOn(open, { sent, index, isFailing: start !== undefined }, t);
    else if (start !== undefined) found.push(toFailure(sent, { start, index }, t));
  }
  return found;
}

function goOn(
  open: SenderFailure,
  { sent, index, isFailing }: { sent: Sent; index: number; isFailing: boolean },
  t: Thresholds,
): void {
  const day = sent[index] as CountedDay;
  open.sent.push(day);
  if (isFailing) open.days.push(day.day);
  if (passesAgain(sent, index, t)) open.ending = 'recovered';
  else if (index - open.first >= t.regressionDays) open.ending = 'new_normal';
}

function toFailure(
  sent: Sent,
  { start, index }: { readonly start: number; readonly index: number },
  t: Thresholds,
): SenderFailure {
  const before = addUpBefore(sent, start, t);
  const failing = sent.slice(start, index + 1);
  const [{ day: since }, { day }] = [failing.at(0), failing.at(-1)] as [CountedDay, CountedDay];
  const wasSigned = before.messages - before.failed > before.unsigned;
  return { first: index, since, days: [day], sent: failing, wasSigned, ending: null };
}

const addUpBefore = (sent: Sent, start: number, { baselineDays }: Thresholds) =>
  addUpDays(sent.slice(Math.max(0, start - baselineDays), start));

const toNothing = (day: Day): CountedDay => ({
  ...{ day, messages: 0, failed: 0, unsigned: 0, sightings: [] },
});

type Sent = readonly CountedDay[];

/** The day since which it fails, as of another one; undefined where it does not, or did not pass before. */
function findStart(sent: Sent, index: number, t: Thresholds): number | undefined {
  const last = takeLast(sent, index, t);
  if (last === undefined || !isMost(last.failed, last, t)) return undefined;
  let start = last.from;
  const oldest = Math.max(0, index + 1 - t.regressionDays);
  for (let i = start - 1; i >= oldest; i -= 1) {
    const { messages, failed } = sent[i] as CountedDay;
    if (messages === 0) continue;
    if (2 * failed < messages) break;
    start = i;
  }
  const before = addUpBefore(sent, start, t);
  const isEnough = before.messages >= t.senderMessages;
  return isEnough && isMost(before.messages - before.failed, before, t) ? start : undefined;
}

function passesAgain(sent: Sent, index: number, t: Thresholds): boolean {
  const last = takeLast(sent, index, t);
  return last !== undefined && isMost(last.messages - last.failed, last, t);
}

const isMost = (part: number, { messages }: { messages: number }, { senderPercent }: Thresholds) =>
  part * 100 >= messages * senderPercent;

/** Its last messages, over as many days as they take; undefined when they take too many. `from`: the first on which it sent. */
function takeLast(sent: Sent, index: number, { senderMessages, regressionDays }: Thresholds) {
  for (let from = index; from >= Math.max(0, index + 1 - regressionDays); from -= 1) {
    const sum = addUpDays(sent.slice(from, index + 1));
    if (sum.messages >= senderMessages) return { ...sum, from };
  }
  return undefined;
}
