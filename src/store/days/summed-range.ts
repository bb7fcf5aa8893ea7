import { LRUCache } from 'lru-cache';
import { addTo, type Counts } from '../../domain/alerts/rate.ts';
import type { Day, DayRange } from '../../domain/instant.ts';
import {
  addCounts,
  addPasses,
  addPatterns,
  type DaySource,
} from '../../domain/sources/day-sources.ts';
import type { SourceCounts } from '../../domain/sources/source.ts';
import type { RowOfQuery } from '../engine/prepared.ts';
import { ask, type Plan, type Reader } from '../engine/reader.ts';
import type { DomainOfAccount } from '../lists/heads.ts';
import { asideOf, planState, type ReportsState, stateOf, toLately } from './believed.ts';
import { type CountedDays, planDays, sumMessages } from './day-sources.ts';

/** What an address sent in some days. */
export interface SourceSum extends SourceCounts {
  readonly address: string;
  readonly firstDay: Day;
  readonly lastDay: Day;
  /** What reporters said of its messages, except messages whose pattern was not kept. */
  readonly patterns: ReadonlyMap<string, number>;
}

/** What does not count in some days: reports, and their messages. */
export type Aside = Readonly<RowOfQuery<typeof asideOf>>;

/** `messages` and `aligned` are of all messages of the range, exactly. */
export interface SummedRange extends Counts {
  /** The domain's, when the days were read: others have other sums. */
  readonly state: ReportsState;
  readonly aside: Aside;
  /** How many days have reports. */
  readonly days: number;
  /** The messages of the addresses that are kept. */
  readonly listed: number;
  readonly sources: ReadonlyMap<string, SourceSum>;
  readonly reporters: ReadonlyMap<string | null, Counts>;
  /** The sources in orders that were asked for (source-list.ts): who pages a list asks again. */
  readonly sorted: Map<string, readonly SourceSum[]>;
}

/** What a read gives besides its answer: the days that it counted, to be stored. */
export type Counted = { readonly counted?: CountedDays | undefined };

export interface RangeQuery {
  readonly domainId: string;
  readonly range: DayRange;
  /** Of the clock. */
  readonly today: Day;
}

/** The same, of a domain that has to be an account's. */
export interface ScopedQuery extends Omit<RangeQuery, 'domainId'> {
  readonly scope: DomainOfAccount;
}

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

/** Reads no days of a range that is kept and has the domain's state, which is asked for unless it is given. */
export async function sumRange(reader: Reader, query: RangeQuery, state?: ReportsState) {
  const { domainId, range } = query;
  const kept = keptOf(reader);
  const key = `${domainId} ${range.from} ${range.to}`;
  const former = kept.get(key);
  if (former !== undefined) {
    const asked = stateOf({ domainId, ...toLately(query.today) });
    const current = state ?? (await reader.readAll(asked))[0];
    const { version, reporters } = former.state;
    if (current?.version === version && current.reporters === reporters) return { summed: former };
  }
  const found = await reader.readPlan(() => planSums(query));
  kept.set(key, found.summed);
  return found;
}

function* planSums(query: RangeQuery): Plan<Counted & { summed: SummedRange }> {
  const { domainId, range } = query;
  const state = yield* planState(query);
  const counted: CountedDays = { domainId, version: state.version, days: [] };
  const counting = { domainId, ...range, view: state.reporters };
  const [aside] = yield* ask(asideOf(counting));
  const sums: Sums = { sources: new Map(), reporters: new Map() };
  let days = 0;
  const all = { messages: 0, aligned: 0 };
  yield* planDays(counting, counted, (one) => {
    days += 1;
    addTo(all, one);
    addDay(sums, one.day, one.sources);
  });
  const counts = { days, ...all, listed: sumMessages(sums.sources.values()) };
  const summed = { state, aside: aside as Aside, ...counts, ...sums, sorted: new Map() };
  return { summed, counted };
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
