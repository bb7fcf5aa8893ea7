import { addDays, type Day } from '../../domain/instant.ts';
import { type ReadingStore, readStored } from '../../judging/reads.ts';
import { sumRange } from '../../judging/summed-range.ts';
import { sumsOfDomains } from '../../store/domains/worklist.ts';
import type { Reader } from '../../store/engine/reader.ts';

export type Week = Omit<Awaited<ReturnType<typeof findWeek>>, 'counted'>;

const WEEK = 7;
const KNOWN_DAYS = 30;

type WeekQuery = { readonly domainId: string; readonly monday: Day };

/** The week before a Monday of a domain. */
export function readWeek(store: ReadingStore, query: WeekQuery) {
  return readStored(store, import.meta.url, [findWeek, query]);
}

/** The reader's thread finds it by its name. */
export async function findWeek(reader: Reader, { domainId, monday }: WeekQuery) {
  const [from, to] = [addDays(monday, -WEEK), addDays(monday, -1)];
  const range = { from: addDays(from, -KNOWN_DAYS), to };
  const { summed, counted } = await sumRange(reader, { domainId, range, today: monday });
  const counting = { ids: JSON.stringify([domainId]), view: summed.state.reporters };
  const weeks = { ...counting, from, to, before: addDays(from, -WEEK) };
  const [sum] = await reader.readAll(sumsOfDomains(weeks));
  const sources = [...summed.sources.values()];
  return {
    counts: { messages: sum?.messages ?? 0, aligned: sum?.aligned ?? 0 },
    before: { messages: sum?.messagesBefore ?? 0, aligned: sum?.alignedBefore ?? 0 },
    /** Addresses that sent nothing in the 30 days before. */
    newSources: sources.filter(({ firstDay }) => firstDay >= from).length,
    counted,
  };
}
