import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type {
  DataDay as CountedDay,
  FailingSource,
  KnownAlert,
} from '../../domain/alerts/facts.ts';
import type { Counts } from '../../domain/alerts/rate.ts';
import type { Thresholds } from '../../domain/alerts/thresholds.ts';
import { addDays, BEGIN_OF_TIME, type Day, type Instant, toDay } from '../../domain/instant.ts';
import type { View } from '../../domain/reports/authentication.ts';
import { type AddressKey, toAddress } from '../../domain/sources/address-key.ts';
import { eachSource } from '../../domain/sources/packed-sources.ts';
import { prepareQuery } from '../engine/prepared.ts';
import { ask, type Plan, type Reader } from '../engine/reader.ts';
import type { DataDay, DaysQuery } from '../sources/days.ts';
import { selectViewDays } from './view-days.ts';

/*
 * The cost is bounded: a day keeps at most 1,000 sources, and only days that may fire and days of known alerts are
 * read. Days around them are read when a source failed. The event loop runs between two days.
 */

interface FailingQuery {
  readonly domainId: string;
  readonly now: Instant;
  readonly thresholds: Thresholds;
  readonly alerts: readonly KnownAlert[];
  /** The latest days that have data. */
  readonly days: readonly CountedDay[];
  readonly view: View;
  /** Failing days before this one are not needed any more. */
  readonly from: Day;
}

/** The sources that failed too much on fresh days and on days of alerts that have fired. */
export async function listFailingSources(
  reader: Reader,
  query: FailingQuery,
): Promise<FailingSource[]> {
  const found: FailingSource[] = [];
  for (const day of daysToRead(query)) {
    const sources = await reader.readPlan(() => planDay(day, query));
    found.push(...sources);
    if (sources.length > 0) await yieldToOthers();
  }
  return found;
}

const DAY = /^\d{4}-\d\d-\d\d$/;

function daysToRead({ now, thresholds, alerts, days }: FailingQuery): Set<Day> {
  const oldest = addDays(toDay(now), -thresholds.maxAgeDays);
  const fresh = days.filter(({ day, hasSources }) => day >= oldest && hasSources);
  const fired = alerts.map(({ subject }) => subject).filter((text) => DAY.test(text));
  return new Set([...fresh.map(({ day }) => day), ...fired.filter((day) => day < oldest)]);
}

function* planDay(
  day: Day,
  { domainId, now, thresholds, from, view }: FailingQuery,
): Plan<FailingSource[]> {
  const latest = (days: Pick<LatestQuery, 'from' | 'to' | 'limit'>) =>
    ask(latestDays({ domainId, view, ...days }));
  const [own] = yield* latest({ from: day, to: day, limit: 1 });
  const failing = own === undefined ? [] : findFailing(own, thresholds);
  if (failing.length === 0) return [];
  const keys = new Set(failing.map(({ key }) => key));
  const limit = thresholds.newSourceDays;
  const before = yield* latest({ from: toDay(BEGIN_OF_TIME), to: addDays(day, -1), limit });
  const absent = countAbsentDays(before, keys);
  const unseen = keys.difference(absent);
  const after = day < from ? from : addDays(day, 1);
  const to = addDays(toDay(now), 1);
  const later = unseen.size === 0 ? [] : yield* latest({ from: after, to, limit: ALL });
  const failingLater = listLaterFailing(later.toReversed(), unseen, thresholds);
  return failing.map(({ key, ...counts }) => ({
    day,
    address: toAddress(key),
    ...counts,
    absentDays: absent.get(key) ?? null,
    laterFailingDays: failingLater.get(key) ?? [],
  }));
}

type LatestQuery = DaysQuery & { view: View; limit: number };

const ALL = Number.MAX_SAFE_INTEGER;

const latestDays = prepareQuery<LatestQuery, DataDay>((db, param) =>
  selectViewDays(db, param('view'))
    .select(['day', 'reports', 'messages', 'sources'])
    .where('domain_id', '=', param('domainId'))
    .where('day', '>=', param('from'))
    .where('day', '<=', param('to'))
    .orderBy('day', 'desc')
    .limit(param('limit')),
);

type Failing = Counts & { readonly key: AddressKey };

function findFailing({ sources }: DataDay, thresholds: Thresholds): Failing[] {
  const { newSourceMessages, newSourceFailPercent } = thresholds;
  const failing: Failing[] = [];
  eachSource(sources, (key, messages, aligned) => {
    const failsTooOften = (messages - aligned) * 100 >= messages * newSourceFailPercent;
    if (messages >= newSourceMessages && failsTooOften) failing.push({ key, messages, aligned });
  });
  return failing;
}

/** How many of the days are later than the last one on which an address sent something. */
function countAbsentDays(
  days: readonly DataDay[],
  keys: ReadonlySet<AddressKey>,
): ReadonlyMap<AddressKey, number> {
  const absent = new Map<AddressKey, number>();
  for (const [i, { sources }] of days.entries())
    eachSource(sources, (key) => {
      if (keys.has(key) && !absent.has(key)) absent.set(key, i);
    });
  return absent;
}

/** The days on which addresses sent too many failing messages. */
function listLaterFailing(
  days: readonly DataDay[],
  keys: ReadonlySet<AddressKey>,
  { newSourceMessages }: Thresholds,
): ReadonlyMap<AddressKey, Day[]> {
  const failing = new Map<AddressKey, Day[]>();
  for (const { day, sources } of days)
    eachSource(sources, (key, messages, aligned) => {
      if (!keys.has(key) || messages - aligned < newSourceMessages) return;
      failing.set(key, [...(failing.get(key) ?? []), day]);
    });
  return failing;
}
