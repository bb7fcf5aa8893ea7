import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { KnownAlert } from '../domain/alerts/facts.ts';
import { type FailingSource, isNew } from '../domain/alerts/new-failing-source.ts';
import type { Thresholds } from '../domain/alerts/thresholds.ts';
import { addDays, BEGIN_OF_TIME, type Day, toDay } from '../domain/instant.ts';
import type { DayCounts } from '../domain/pass-rate.ts';
import type { DaySource } from '../domain/sources/day-sources.ts';
import type { Reader } from '../store/engine/reader.ts';
import {
  loadServiceNames,
  planLatest,
  type SourcesOfDay,
  type SourcesQuery,
} from './regression-cause.ts';

/*
 * The cost is bounded: a day has at most 1,000 sources, and only days that may fire and days of known alerts are read.
 * Days around them are read when a source failed, and names when one is new. The event loop runs between two days.
 */

interface FailingQuery extends SourcesQuery {
  readonly thresholds: Thresholds;
  readonly alerts: readonly KnownAlert[];
  readonly days: readonly DayCounts[];
  /** Failing days before this one are not needed any more. */
  readonly from: Day;
}

/** The sources that failed too much on fresh days and on days of alerts that have fired. */
export async function listFailingSources(reader: Reader, query: FailingQuery) {
  const found: (Omit<FailingSource, 'service'> & Pick<DaySource, 'patterns'>)[] = [];
  for (const day of daysToRead(query)) {
    const sources = await reader.readPlan(() => planDay(day, query), { domainId: query.domainId });
    found.push(...sources);
    await yieldToOthers();
  }
  const unseen = new Set(found.filter((one) => isNew(one, query.thresholds.newSourceDays)));
  const nameService = unseen.size > 0 ? await loadServiceNames(reader, query) : undefined;
  return found.map((one): FailingSource => {
    const { patterns, ...source } = one;
    return { ...source, service: (unseen.has(one) && nameService?.(one)) || null };
  });
}

const DAY = /^\d{4}-\d\d-\d\d$/;

function daysToRead({ now, thresholds, alerts, days }: FailingQuery): Set<Day> {
  const oldest = addDays(toDay(now), -thresholds.maxAgeDays);
  const { newSourceMessages: least } = thresholds;
  const fresh = days.filter(({ day, messages }) => day >= oldest && messages >= least);
  const fired = alerts.map(({ subject }) => subject).filter((text) => DAY.test(text));
  return new Set([...fresh.map(({ day }) => day), ...fired.filter((day) => day < oldest)]);
}

function* planDay(day: Day, query: FailingQuery) {
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
  return failing.map(({ address, messages, aligned, patterns }) => ({
    day,
    address,
    messages,
    aligned,
    patterns,
    absentDays: absent.get(address) ?? null,
    laterFailingDays: failingLater.get(address) ?? [],
  }));
}

const ALL = Number.MAX_SAFE_INTEGER;

function findFailing({ sources }: SourcesOfDay, thresholds: Thresholds): DaySource[] {
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
