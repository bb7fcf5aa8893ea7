import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { FailingSource, KnownAlert } from '../../domain/alerts/facts.ts';
import type { Counts } from '../../domain/alerts/rate.ts';
import type { Thresholds } from '../../domain/alerts/thresholds.ts';
import { addDays, BEGIN_OF_TIME, type Day, type Instant, toDay } from '../../domain/instant.ts';
import type { View } from '../../domain/reports/authentication.ts';
import type { DaySource } from '../../domain/sources/day-sources.ts';
import { type CountedDays, countDay, daysOf, planSources } from '../days/day-sources.ts';
import { planViewDays, type ViewDay } from '../days/views.ts';
import { ask, type Plan, type Reader } from '../engine/reader.ts';

/*
 * The cost is bounded: a day has at most 1,000 sources, and only days that may fire and days of known alerts are read.
 * Days around them are read when a source failed. The event loop runs between two days.
 */

interface FailingQuery {
  readonly domainId: string;
  readonly now: Instant;
  readonly thresholds: Thresholds;
  readonly alerts: readonly KnownAlert[];
  readonly days: readonly ViewDay[];
  readonly view: View;
  /** Failing days before this one are not needed any more. */
  readonly from: Day;
  readonly counted: CountedDays;
}

/** The sources that failed too much on fresh days and on days of alerts that have fired. */
export async function listFailingSources(reader: Reader, query: FailingQuery) {
  const found: FailingSource[] = [];
  for (const day of daysToRead(query)) {
    const sources = await reader.readPlan(() => planDay(day, query));
    found.push(...sources);
    await yieldToOthers();
  }
  return found;
}

const DAY = /^\d{4}-\d\d-\d\d$/;

function daysToRead({ now, thresholds, alerts, days }: FailingQuery): Set<Day> {
  const oldest = addDays(toDay(now), -thresholds.maxAgeDays);
  const { newSourceMessages: least } = thresholds;
  const fresh = days.filter(({ day, messages }) => day >= oldest && messages >= least);
  const fired = alerts.map(({ subject }) => subject).filter((text) => DAY.test(text));
  return new Set([...fresh.map(({ day }) => day), ...fired.filter((day) => day < oldest)]);
}

function* planDay(day: Day, query: FailingQuery): Plan<FailingSource[]> {
  const { now, thresholds, from } = query;
  const [own] = yield* planLatest(query, { from: day, to: day, limit: 1 });
  const failing = own === undefined ? [] : findFailing(own, thresholds);
  if (failing.length === 0) return [];
  const addresses = new Set(failing.map(({ address }) => address));
  const limit = thresholds.newSourceDays;
  const range = { from: toDay(BEGIN_OF_TIME), to: addDays(day, -1), limit };
  const absent = countAbsentDays(yield* planLatest(query, range), addresses);
  const unseen = addresses.difference(absent);
  const after = day < from ? from : addDays(day, 1);
  const to = addDays(toDay(now), 1);
  const later = unseen.size === 0 ? [] : yield* planLatest(query, { from: after, to, limit: ALL });
  const failingLater = listLaterFailing(later.toReversed(), unseen, thresholds);
  return failing.map(({ address, messages, aligned }) => ({
    day,
    address,
    messages,
    aligned,
    absentDays: absent.get(address) ?? null,
    laterFailingDays: failingLater.get(address) ?? [],
  }));
}

const ALL = Number.MAX_SAFE_INTEGER;

type SourcesOfDay = { readonly day: Day; readonly sources: readonly DaySource[] };

/** The latest days of a view with their sources, newest first. */
function* planLatest(
  { domainId, view, counted }: FailingQuery,
  range: { readonly from: Day; readonly to: Day; readonly limit: number },
): Plan<SourcesOfDay[]> {
  const found: SourcesOfDay[] = [];
  for (const { day, isWhole } of yield* planViewDays({ domainId, view, ...range })) {
    const [stored] = isWhole ? yield* ask(daysOf({ domainId, from: day, to: day })) : [];
    const sources =
      stored === undefined
        ? yield* countDay({ domainId, day }, view)
        : yield* planSources(stored, counted);
    found.push({ day, sources });
  }
  return found;
}

type Failing = Counts & { readonly address: string };

function findFailing({ sources }: SourcesOfDay, thresholds: Thresholds): Failing[] {
  const { newSourceMessages, newSourceFailPercent } = thresholds;
  return sources.filter(
    ({ messages, aligned }) =>
      messages >= newSourceMessages &&
      (messages - aligned) * 100 >= messages * newSourceFailPercent,
  );
}

/** How many of the days are later than the last one on which an address sent something. */
function countAbsentDays(days: readonly SourcesOfDay[], addresses: ReadonlySet<string>) {
  const absent = new Map<string, number>();
  for (const [i, { sources }] of days.entries())
    for (const { address } of sources)
      if (addresses.has(address) && !absent.has(address)) absent.set(address, i);
  return absent;
}

function listLaterFailing(
  days: readonly SourcesOfDay[],
  addresses: ReadonlySet<string>,
  { newSourceMessages }: Thresholds,
): ReadonlyMap<string, Day[]> {
  const failing = new Map<string, Day[]>();
  for (const { day, sources } of days)
    for (const { address, messages, aligned } of sources)
      if (addresses.has(address) && messages - aligned >= newSourceMessages)
        failing.set(address, [...(failing.get(address) ?? []), day]);
  return failing;
}
