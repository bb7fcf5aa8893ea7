import type { Counts } from '../../domain/alerts/rate.ts';
import { addDays, type Day } from '../../domain/instant.ts';
import { sumsOfDomains } from '../domains/worklist.ts';
import type { Reader } from '../engine/reader.ts';
import { daysOf, sumSources } from '../sources/days.ts';

export interface Week {
  readonly counts: Counts;
  /** Of the week before. */
  readonly before: Counts;
  /** Addresses that sent nothing in the 30 days before. */
  readonly newSources: number;
}

const WEEK = 7;
const KNOWN_DAYS = 30;

/** The week before a Monday of a domain. */
export async function readWeek(reader: Reader, domainId: string, monday: Day): Promise<Week> {
  const [from, to] = [addDays(monday, -WEEK), addDays(monday, -1)];
  const weeks = { ids: JSON.stringify([domainId]), from, to, before: addDays(from, -WEEK) };
  const [sum] = await reader.readAll(sumsOfDomains(weeks));
  const days = daysOf({ domainId, from: addDays(from, -KNOWN_DAYS), to });
  const { sums } = await sumSources(await reader.readAll(days));
  return {
    counts: { messages: sum?.messages ?? 0, aligned: sum?.aligned ?? 0 },
    before: { messages: sum?.messagesBefore ?? 0, aligned: sum?.alignedBefore ?? 0 },
    newSources: sums.filter(({ firstDay }) => firstDay >= from).length,
  };
}
