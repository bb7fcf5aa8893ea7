import { sql } from 'kysely';
import type { DayRange } from '../../domain/day-range.ts';
import type { Day } from '../../domain/instant.ts';
import { prepareQuery } from '../engine/prepared.ts';
import { askAll, type Reader } from '../engine/reader.ts';
import { type SourceRow, toSourceRow } from './list.ts';
import { SUMS, sumOf } from './parts.ts';

/*
 * The addresses of a range that fail most. Days on which all messages of an address passed are left out before anything
 * is added up, so this costs a fraction of the list of sources where few addresses fail.
 */

type OfRange = { domainId: string; from: Day; to: Day };

/** @internal A test reads its query plan. */
export const mostFailing = prepareQuery<
  OfRange & { limit: number },
  { address: string; total: number }
>((db, param) =>
  db
    .with('failing', (query) =>
      query
        .selectFrom('domain_source_ip')
        .select('address')
        .select(sumOf(sql<number>`messages - aligned`).as('failed'))
        .where('domain_id', '=', param('domainId'))
        .where('day', '>=', param('from'))
        .where('day', '<=', param('to'))
        .whereRef('messages', '>', 'aligned')
        .groupBy('address'),
    )
    .selectFrom('failing')
    .select('address')
    .select(sql<number>`count(*) over ()`.as('total'))
    .orderBy('failed', 'desc')
    .orderBy('address')
    .limit(param('limit')),
);

/** @internal A test reads its query plan. */
export const ofAddress = prepareQuery<OfRange & { address: string }, SourceRow>((db, param) =>
  db
    // SQLite would read all addresses of the range's days. Of the days alone, it finds those of the address by their index.
    .selectFrom('domain_source_ip as seen')
    .where('seen.domain_id', '=', param('domainId'))
    .where('seen.address', '=', param('address'))
    .where('seen.day', '>=', param('from'))
    .where('seen.day', '<=', param('to'))
    .crossJoin('domain_source_ip as source')
    .where('source.domain_id', '=', param('domainId'))
    .whereRef('source.day', '=', 'seen.day')
    .where('source.address', '=', param('address'))
    .select('source.address')
    .select(SUMS.map((column) => sumOf(`source.${column}`).as(column)))
    .select(({ fn }) => [fn.min('seen.day').as('first_day'), fn.max('seen.day').as('last_day')])
    .groupBy('source.address'),
);

interface Failing {
  /** How many addresses had failed messages. */
  readonly total: number;
  /** Those with most failed messages first, with all that they sent in the range. */
  readonly sources: readonly SourceRow[];
}

/** The addresses of a range with most failed messages. Whose the domain is, the caller has checked. */
export async function readFailing(
  reader: Reader,
  domainId: string,
  { range: { from, to }, limit }: { readonly range: DayRange; readonly limit: number },
): Promise<Failing> {
  const range = { domainId, from, to };
  const most = await reader.readAll(mostFailing({ ...range, limit }));
  const rows = await reader.readPlan(() =>
    askAll(...most.map(({ address }) => ofAddress({ ...range, address }))),
  );
  return { total: Number(most[0]?.total ?? 0), sources: rows.flat().map(toSourceRow) };
}
