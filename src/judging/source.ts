import { addDays, BEGIN_OF_TIME, type Day, END_OF_TIME, toDay } from '../domain/instant.ts';
import { addUp, type Counts } from '../domain/pass-rate.ts';
import { parsePattern } from '../domain/reports/source-pattern.ts';
import { addSource, type DaySource, type SourceSums } from '../domain/sources/day-sources.ts';
import type { Results } from '../domain/sources/evidence.ts';
import { planState } from '../store/days/believed.ts';
import { type CountedDays, planDays, sumMessages } from '../store/days/day-sources.ts';
import { latestDays } from '../store/days/views.ts';
import { ask, type Reader } from '../store/engine/reader.ts';
import type { ScopedQuery } from './summed-range.ts';

export type SourceDay = Counts & { readonly day: Day };

export type ReporterCounts = Counts & { readonly name: string | null };

export type SourceOfRange = Omit<Awaited<ReturnType<typeof readSource>>, 'counted'>;

interface AddressQuery extends ScopedQuery {
  readonly address: string;
}

/** An address that sent nothing has no days. Throws `not_found` when the account has no such domain. */
export function readSource(reader: Reader, { scope, address, range, today }: AddressQuery) {
  const { domainId } = scope;
  return reader.readPlan(function* () {
    const { version, reporters: view } = yield* planState({ domainId, today }, scope.accountId);
    const counted: CountedDays = { domainId, version, days: [] };
    const sums: SourceSums = new Map();
    const days: SourceDay[] = [];
    // Days with messages of no address: a day keeps its largest, so this one may have sent more.
    let cutDays = 0;
    yield* planDays({ domainId, ...range, view }, counted, ({ day, messages, sources }) => {
      if (sumMessages(sources) < messages) cutDays += 1;
      const source = sources.find((of) => of.address === address);
      if (source === undefined) return;
      addSource(sums, source);
      days.push({ day, messages: source.messages, aligned: source.aligned });
    });
    const { results, reporters } = toShown(sums.get(address));
    // Messages of the days that belong to no results.
    const otherMessages = Math.max(0, addUp(days).messages - addUp(results).messages);
    return { days, cutDays, results, otherMessages, reporters, counted };
  }, scope);
}

/** What reporters said of its messages, and who reported them, most messages first. */
function toShown(source: DaySource | undefined) {
  if (source === undefined) return { results: [], reporters: [] };
  const results = [...source.patterns].map(([pattern, messages]) => toResults(pattern, messages));
  const reporters = [...source.reporters].map(([name, counts]) => ({ name, ...counts }));
  return { results: results.sort(byMessages), reporters: reporters.sort(byMessages) };
}

function toResults(pattern: string, messages: number): Results {
  const values = parsePattern(pattern);
  const isAligned = values.spf.isAligned || values.isDkimAligned;
  return { ...values, messages, aligned: isAligned ? messages : 0 };
}

function byMessages(a: Counts, b: Counts): number {
  return b.messages - a.messages;
}

/** How many days are read at once in a search: few, because most addresses are found in the first, and then more. */
const FIRST_DAYS = 4;
const MAX_DAYS = 64;

/** The last day on which an address sent in a domain's name; null when it is in no stored day. Reads days until then. */
export async function findLastDay(
  reader: Reader,
  { scope, address, today }: Omit<AddressQuery, 'range'>,
) {
  const { domainId } = scope;
  const { version, reporters: view } = await reader.readPlan(() => planState({ domainId, today }));
  const counted: CountedDays = { domainId, version, days: [] };
  const from = toDay(BEGIN_OF_TIME);
  let to = toDay(END_OF_TIME);
  for (let limit = FIRST_DAYS; ; limit = Math.min(2 * limit, MAX_DAYS)) {
    let last: Day | undefined;
    const first = await reader.readPlan(function* () {
      const first = (yield* ask(latestDays({ domainId, view, from, to, limit }))).at(-1)?.day;
      if (first === undefined) return undefined;
      yield* planDays({ domainId, view, from: first, to }, counted, ({ day, sources }) => {
        if (sources.some((of) => of.address === address)) last = day;
      });
      return first;
    }, scope);
    if (last !== undefined || first === undefined) return { day: last ?? null, counted };
    to = addDays(first, -1);
  }
}
