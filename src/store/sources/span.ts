import type { Day } from '../../domain/instant.ts';
import { prepareQuery } from '../engine/prepared.ts';
import { askAll, type Reader } from '../engine/reader.ts';

type Place = { domainId: string; address: string };

/** A look into the index (0002-alerts), whatever the address sent. */
const prepareEnd = (direction: 'asc' | 'desc') =>
  prepareQuery<Place, { day: Day }>((db, param) =>
    db
      .selectFrom('domain_source_ip')
      .select('day')
      .where('domain_id', '=', param('domainId'))
      .where('address', '=', param('address'))
      .orderBy('day', direction)
      .limit(1),
  );
/** @internal A test reads its query plan. */
export const firstDay = prepareEnd('asc');
/** @internal */
export const lastDay = prepareEnd('desc');

/** The first and the last day on which an address sent in a domain's name; null when it never did. */
export async function readSpan(
  reader: Reader,
  place: Place,
): Promise<{ readonly oldest: Day | null; readonly newest: Day | null }> {
  const [[first], [last]] = await reader.readPlan(() => askAll(firstDay(place), lastDay(place)));
  return { oldest: first?.day ?? null, newest: last?.day ?? null };
}
