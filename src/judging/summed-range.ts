import type { Day, DayRange } from '../domain/instant.ts';
import { addTo, type Counts } from '../domain/pass-rate.ts';
import { remember } from '../domain/remember.ts';
import { passesPattern } from '../domain/reports/source-pattern.ts';
import {
  addCounts,
  addPasses,
  addPatterns,
  type DaySource,
  NO_COUNTS,
} from '../domain/sources/day-sources.ts';
import type { SourceCounts } from '../domain/sources/source.ts';
import {
  type Aside,
  asideOf,
  planState,
  type ReportsState,
  stateOf,
  toLately,
} from '../store/days/believed.ts';
import { type CountedDays, planDays, sumMessages } from '../store/days/day-sources.ts';
import { ask, type Plan, type Reader } from '../store/engine/reader.ts';
import type { DomainOfAccount } from '../store/lists/heads.ts';
import { keep } from './kept.ts';

/** What an address sent in some days. */
export interface SourceSum extends SourceCounts {
  readonly address: string;
  readonly firstDay: Day;
  readonly lastDay: Day;
  /** What reporters said of its messages, except messages whose pattern was not kept. */
  readonly patterns: ReadonlyMap<string, number>;
  /** Oldest first. */
  readonly sent: readonly SentOn[];
}

/** What an address sent on a day, with the patterns of what failed. */
export interface SentOn extends SourceCounts {
  readonly day: Day;
  readonly failed: DaySource['patterns'];
}

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
  /** The days that each reporter reported of, oldest first. */
  readonly reporterDays: ReadonlyMap<string | null, readonly Day[]>;
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
/** Patterns of an address, and of all addresses: strangers can make up any number of them. */
const MAX_OF_SOURCE = 256;
const MAX_PATTERNS = 1_000_000;

/** Of an address with its places in sorted lists, and of a pattern with its text. */
const ADDRESS_BYTES = 550;
const PATTERN_BYTES = 120;
/** Reporters whose days are kept: anybody can be many. */
const MAX_REPORTERS = 200;
/** Of what an address sent on a day. */
const SENT_BYTES = 120;

/** Ranges that were looked at lately: a person sorts, searches and pages a list, and a partner walks its pages. */
const keptSums = keep<SummedRange>({
  name: 'sum',
  ttlMs: 60_000,
  toBytes: ({ sources }) =>
    sources
      .values()
      .reduce(
        (sum, { patterns, sent }) =>
          sum + ADDRESS_BYTES + PATTERN_BYTES * patterns.size + SENT_BYTES * sent.length,
        1_000,
      ),
});

/** Reads no days of a range that is kept and has the domain's state, which is asked for unless it is given. */
export async function sumRange(reader: Reader, query: RangeQuery, state?: ReportsState) {
  const { domainId, range } = query;
  const key = `${domainId} ${range.from} ${range.to}`;
  const former = keptSums.find(reader, key);
  if (former !== undefined) {
    const asked = stateOf({ domainId, ...toLately(query.today) });
    const current = state ?? (await reader.readAll(asked))[0];
    const { version, reporters } = former.state;
    if (current?.version === version && current.reporters === reporters) return { summed: former };
  }
  const found = await reader.readPlan(() => planSums(query), { domainId });
  keptSums.set(reader, key, found.summed);
  return found;
}

function* planSums(query: RangeQuery): Plan<Counted & { summed: SummedRange }> {
  const { domainId, range } = query;
  const state = yield* planState(query);
  const counted: CountedDays = { domainId, version: state.version, days: [] };
  const counting = { domainId, ...range, view: state.reporters };
  const [aside] = yield* ask(asideOf(counting));
  const isFailed = remember((text: string) => !passesPattern(text));
  const reporterDays = new Map();
  const sums: Sums = {
    sources: new Map(),
    reporters: new Map(),
    reporterDays,
    patterns: 0,
    isFailed,
  };
  let days = 0;
  const all = { messages: 0, aligned: 0 };
  yield* planDays(counting, counted, (one) => {
    days += 1;
    addTo(all, one);
    addDay(sums, one.day, one.sources);
  });
  const counts = { days, ...all, listed: sumMessages(sums.sources.values()) };
  const { sources, reporters } = sums;
  const of = { state, aside: aside as Aside, ...counts, sources, reporters };
  const summed = { ...of, reporterDays, sorted: new Map() };
  return { summed, counted };
}

interface Sums {
  readonly sources: Map<string, GrowingSum>;
  readonly reporters: Map<string | null, Counts>;
  readonly reporterDays: Map<string | null, Day[]>;
  /** How many there are of all addresses. */
  patterns: number;
  readonly isFailed: (pattern: string) => boolean;
}

type GrowingSum = { -readonly [Name in keyof SourceSum]: SourceSum[Name] } & {
  readonly patterns: Map<string, number>;
  readonly sent: SentOn[];
};

/** Days come in their order. */
function addDay(sums: Sums, day: Day, added: readonly DaySource[]): void {
  const { sources, reporters } = sums;
  for (const source of added) {
    for (const [name, passes] of source.reporters) {
      addPasses(reporters, name, passes);
      addReporterDay(sums, name, day);
    }
    const former = sources.get(source.address);
    if (former === undefined && sources.size >= MAX_ADDRESSES) continue;
    const sum = former ?? toFirst(source, day);
    sources.set(source.address, sum);
    addCounts(sum, source);
    const known = sum.patterns.size;
    const room = Math.max(1, known + MAX_PATTERNS - sums.patterns);
    addPatterns(sum.patterns, source.patterns, Math.min(MAX_OF_SOURCE, room));
    sums.patterns += sum.patterns.size - known;
    sum.lastDay = day;
    sum.sent.push(toSent(source, day, sums.isFailed));
  }
}

function addReporterDay({ reporterDays }: Sums, name: string | null, day: Day): void {
  const known = reporterDays.get(name);
  if (known === undefined && reporterDays.size < MAX_REPORTERS) reporterDays.set(name, [day]);
  if (known !== undefined && known.at(-1) !== day) known.push(day);
}

function toFirst({ address }: DaySource, day: Day): GrowingSum {
  return { address, ...NO_COUNTS, firstDay: day, lastDay: day, patterns: new Map(), sent: [] };
}

/** Many addresses send nothing that fails. */
function toSent(
  { messages, aligned, dkimAligned, spfAligned, patterns }: DaySource,
  day: Day,
  isFailed: Sums['isFailed'],
): SentOn {
  const failed = messages === aligned ? [] : [...patterns].filter(([text]) => isFailed(text));
  return { day, messages, aligned, dkimAligned, spfAligned, failed };
}
