import type { Day, Instant } from '../../domain/instant.ts';
import type { View } from '../../domain/reports/authentication.ts';
import type { DaySource } from '../../domain/sources/day-sources.ts';
import { type CountedDays, planDays } from '../days/day-sources.ts';
import { planViewDays } from '../days/views.ts';
import type { Plan } from '../engine/reader.ts';

export interface SourcesQuery {
  readonly domainId: string;
  /** Its name. */
  readonly domain: string;
  readonly now: Instant;
  readonly view: View;
  readonly counted: CountedDays;
}

export type SourcesOfDay = { readonly day: Day; readonly sources: readonly DaySource[] };

/** The latest days of a view with their sources, newest first. */
export function* planLatest(
  { domainId, view, counted }: SourcesQuery,
  range: { readonly from: Day; readonly to: Day; readonly limit: number },
): Plan<SourcesOfDay[]> {
  const found: SourcesOfDay[] = [];
  for (const { day } of yield* planViewDays({ domainId, view, ...range }))
    yield* planDays({ domainId, view, from: day, to: day }, counted, (one) => found.push(one));
  return found;
}
