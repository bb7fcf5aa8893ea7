import type { Day } from '../instant.ts';
import { addDay, type DaySources, type SourceOfDay } from './day-sources.ts';
import { packSources, unpackSources } from './packed-sources.ts';

interface PackedDay {
  readonly day: Day;
  readonly sources: Uint8Array | null;
}

/** Packs the sum of a month's intact days, oldest first, with what each address sent on each of them. */
export function packMonth(days: readonly PackedDay[]): Uint8Array | null {
  const month: DaySources = new Map();
  for (const { day, sources } of days) {
    const ofDay = unpackSources(sources);
    addDay(month, ofDay);
    for (const [key, { counts }] of ofDay) {
      const source = month.get(key) as SourceOfDay;
      source.days ??= new Map();
      source.days.set(Number(day.slice(8)), counts);
    }
  }
  return packSources(month, 'month');
}
