import { loadOwnerDomains } from '../domain/dns/organizational-domain.ts';
import { addDays, BEGIN_OF_TIME, type Day, type Instant, toDay } from '../domain/instant.ts';
import { remember } from '../domain/remember.ts';
import type { View } from '../domain/reports/authentication.ts';
import { parsePattern } from '../domain/reports/source-pattern.ts';
import {
  addSource,
  type DaySource,
  keepLargest,
  type SourceSums,
} from '../domain/sources/day-sources.ts';
import { type FailureCause, findCause } from '../domain/sources/failure-cause.ts';
import { loadNamer } from '../judging/known-services.ts';
import { type CountedDays, planDays } from '../store/days/day-sources.ts';
import { readAllNames } from '../store/days/names.ts';
import { latestDays } from '../store/days/views.ts';
import { ask, type Plan, type Reader } from '../store/engine/reader.ts';

/* Who sent what alerts are about. It is asked only where something fails. */

export interface SourcesQuery {
  readonly domainId: string;
  /** Its name. */
  readonly domain: string;
  readonly now: Instant;
  readonly view: View;
  readonly counted: CountedDays;
  /** The days that are read already. */
  readonly read: Map<Day, readonly DaySource[]>;
}

export type SourcesOfDay = { readonly day: Day; readonly sources: readonly DaySource[] };

/** The latest days of a view with their sources, newest first. Each is read once. */
export function* planLatest(
  { domainId, view, counted, read }: SourcesQuery,
  range: { readonly from: Day; readonly to: Day; readonly limit: number },
): Plan<SourcesOfDay[]> {
  const days = yield* ask(latestDays({ domainId, view, ...range }));
  const [to, from] = [0, -1].map((i) => days.filter(({ day }) => !read.has(day)).at(i)?.day);
  if (from !== undefined && to !== undefined)
    yield* planDays({ domainId, view, from, to }, counted, ({ day, sources }) => {
      read.set(day, sources);
    });
  return days.map(({ day }) => ({ day, sources: read.get(day) ?? [] }));
}

/** Names the service that sent, by the evidence that pages name it by. */
export async function loadServiceNames(
  reader: Reader,
  { domainId, domain }: SourcesQuery,
): Promise<(source: Pick<DaySource, 'address' | 'patterns'>) => string | undefined> {
  const names = await readAllNames(reader, domainId);
  const nameOf = await loadNamer(domain);
  const parse = remember(parsePattern);
  return ({ address, patterns }) => {
    const results = [...patterns].map(([text, messages]) => ({ seen: parse(text), messages }));
    return nameOf({ results, name: names.get(address) })?.name;
  };
}

/** Days with reports that are compared: those before a day, and those from it on. */
const DAYS = 30;

/** Who sends most of what fails since a day, among the largest sources. It reads at most 60 days. */
export async function findRegressionCause(
  reader: Reader,
  query: SourcesQuery,
  day: Day,
): Promise<FailureCause | undefined> {
  const read = async (range: { readonly from: Day; readonly to: Day }) => {
    const days = await reader.readPlan(() => planLatest(query, { ...range, limit: DAYS }), {
      domainId: query.domainId,
    });
    const sums = addUpSources(days.flatMap(({ sources }) => sources));
    return { sources: keepLargest(sums), days: days.length };
  };
  const before = await read({ from: toDay(BEGIN_OF_TIME), to: addDays(day, -1) });
  const since = await read({ from: day, to: addDays(toDay(query.now), 1) });
  const nameService = await loadServiceNames(reader, query);
  const sources = addUpSources([...before.sources, ...since.sources]);
  const toService = (address: string) => {
    const source = sources.get(address);
    return source && nameService(source);
  };
  const toOrganizationalDomain = remember(await loadOwnerDomains());
  return findCause(before, since, { domain: query.domain, toService, toOrganizationalDomain });
}

function addUpSources(sources: readonly DaySource[]): SourceSums {
  const sums: SourceSums = new Map();
  for (const source of sources) addSource(sums, source);
  return sums;
}
