import { LRUCache } from 'lru-cache';
import type { Counts } from '../../domain/alerts/rate.ts';
import type { Day, DayRange } from '../../domain/instant.ts';
import { addSafely } from '../../domain/safe-sum.ts';
import {
  addCounts,
  addPasses,
  addPatterns,
  type DaySource,
} from '../../domain/sources/day-sources.ts';
import type { SourceCounts } from '../../domain/sources/source.ts';
import { ask, type Plan, type Reader } from '../engine/reader.ts';
import { type CountedDays, daysOf, planSources, planVersion, versionOf } from './day-sources.ts';

/** What an address sent in some days. */
export interface SourceSum extends SourceCounts {
  readonly address: string;
  readonly firstDay: Day;
  readonly lastDay: Day;
  /** What reporters said of its messages, except messages whose pattern was not kept. */
  readonly patterns: ReadonlyMap<string, number>;
}

export interface SummedRange {
  /** The domain's, when the days were read: others have other sums. */
  readonly version: string;
  /** How many days have reports. */
  readonly days: number;
  /** All messages of the range, exactly. */
  readonly messages: number;
  /** The messages of the addresses that are kept. */
  readonly listed: number;
  readonly sources: ReadonlyMap<string, SourceSum>;
  readonly reporters: ReadonlyMap<string | null, Counts>;
  /** The sources in orders that were asked for (source-list.ts): who pages a list asks again. */
  readonly sorted: Map<string, readonly SourceSum[]>;
}

/** What a read gives besides its answer: the days that it counted, to be stored. */
export type Counted = { readonly counted?: CountedDays | undefined };

export type RangeQuery = { readonly domainId: string; readonly range: DayRange };

/** Addresses that a sum has. Only a flood of addresses has more in a year: later ones are left out. */
const MAX_ADDRESSES = 100_000;
/** Addresses of all sums that are kept. Each takes some 700 bytes. */
const MAX_KEPT = 100_000;
const KEPT_MS = 60_000;

/** Ranges that were looked at lately: a person sorts, searches and pages a list, and a partner walks its pages. */
const keptSums = new WeakMap<Reader, LRUCache<string, SummedRange>>();

function keptOf(reader: Reader): LRUCache<string, SummedRange> {
  const kept =
    keptSums.get(reader) ??
    new LRUCache<string, SummedRange>({
      maxSize: MAX_KEPT,
      ttl: KEPT_MS,
      ttlAutopurge: true,
      updateAgeOnGet: true,
      sizeCalculation: ({ sources }) => sources.size + 1,
    });
  keptSums.set(reader, kept);
  return kept;
}

/** Reads no days of a range that is kept and has the domain's version, which is asked for unless it is given. */
export async function sumRange(reader: Reader, { domainId, range }: RangeQuery, version?: string) {
  const kept = keptOf(reader);
  const key = `${domainId} ${range.from} ${range.to}`;
  const former = kept.get(key);
  if (former !== undefined) {
    const current = version ?? (await reader.readAll(versionOf({ domainId })))[0]?.version;
    if (former.version === current) return { summed: former };
  }
  const found = await reader.readPlan(() => planSums({ domainId, range }));
  kept.set(key, found.summed);
  return found;
}

function* planSums({ domainId, range }: RangeQuery): Plan<Counted & { summed: SummedRange }> {
  const version = yield* planVersion(domainId);
  const counted: CountedDays = { domainId, version, days: [] };
  const days = yield* ask(daysOf({ domainId, ...range }));
  const sums: Sums = { sources: new Map(), reporters: new Map() };
  for (const one of days) addDay(sums, one.day, yield* planSources(one, counted));
  const [messages, listed] = [days, sums.sources.values()].map(sumMessages) as [number, number];
  const counts = { days: days.length, messages, listed };
  return { summed: { version, ...counts, ...sums, sorted: new Map() }, counted };
}

function sumMessages(all: Iterable<{ readonly messages: number }>): number {
  let sum = 0;
  for (const { messages } of all) sum = addSafely(sum, messages);
  return sum;
}

interface Sums {
  readonly sources: Map<string, GrowingSum>;
  readonly reporters: Map<string | null, Counts>;
}

type GrowingSum = { -readonly [Name in keyof SourceSum]: SourceSum[Name] } & {
  readonly patterns: Map<string, number>;
};

/** Days come in their order. */
function addDay({ sources, reporters }: Sums, day: Day, added: readonly DaySource[]): void {
  for (const source of added) {
    for (const [name, passes] of source.reporters) addPasses(reporters, name, passes);
    const sum = sources.get(source.address);
    if (sum !== undefined) {
      addCounts(sum, source);
      addPatterns(sum.patterns, source.patterns);
      sum.lastDay = day;
    } else if (sources.size < MAX_ADDRESSES) sources.set(source.address, toFirst(source, day));
  }
}

function toFirst(source: DaySource, day: Day): GrowingSum {
  const { address, messages, aligned, dkimAligned, spfAligned, patterns } = source;
  const counts = { messages, aligned, dkimAligned, spfAligned };
  return { address, ...counts, firstDay: day, lastDay: day, patterns: new Map(patterns) };
}
