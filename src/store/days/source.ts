import { addUp, type Counts } from '../../domain/alerts/rate.ts';
import type { Day, DayRange } from '../../domain/instant.ts';
import { parsePattern } from '../../domain/reports/source-pattern.ts';
import { addSource, type DaySource, type SourceSums } from '../../domain/sources/day-sources.ts';
import type { Results } from '../../domain/sources/evidence.ts';
import { ask, type Reader } from '../engine/reader.ts';
import type { DomainOfAccount } from '../lists/heads.ts';
import { type CountedDays, daysBefore, daysOf, planSources, planVersion } from './day-sources.ts';

export type SourceDay = Counts & { readonly day: Day };

export type ReporterCounts = Counts & { readonly name: string | null };

export type SourceOfRange = Omit<Awaited<ReturnType<typeof readSource>>, 'counted'>;

/** An address that sent nothing has no days. Throws `not_found` when the account has no such domain. */
export function readSource(
  reader: Reader,
  {
    scope,
    address,
    range,
  }: { readonly scope: DomainOfAccount; readonly address: string; readonly range: DayRange },
) {
  const { domainId } = scope;
  return reader.readPlan(function* () {
    const version = yield* planVersion(domainId, scope.accountId);
    const counted: CountedDays = { domainId, version, days: [] };
    const sums: SourceSums = new Map();
    const days: SourceDay[] = [];
    for (const one of yield* ask(daysOf({ domainId, ...range }))) {
      const source = (yield* planSources(one, counted)).find((of) => of.address === address);
      if (source === undefined) continue;
      addSource(sums, source);
      days.push({ day: one.day, messages: source.messages, aligned: source.aligned });
    }
    const { results, reporters } = toShown(sums.get(address));
    // Messages of the days that belong to no results.
    const otherMessages = Math.max(0, addUp(days).messages - addUp(results).messages);
    return { days, results, otherMessages, reporters, counted };
  });
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
  { domainId, address }: { readonly domainId: string; readonly address: string },
) {
  const version = await reader.readPlan(() => planVersion(domainId));
  const counted: CountedDays = { domainId, version, days: [] };
  let before = '9999-12-31';
  for (let limit = FIRST_DAYS; ; limit = Math.min(2 * limit, MAX_DAYS)) {
    const { day, last } = await reader.readPlan(function* () {
      const rows = yield* ask(daysBefore({ domainId, before, limit }));
      for (const row of rows)
        if ((yield* planSources(row, counted)).some((of) => of.address === address))
          return { day: row.day };
      return { last: rows.at(-1)?.day };
    });
    if (day !== undefined || last === undefined) return { day: day ?? null, counted };
    before = last;
  }
}
