import { sql } from 'kysely';
import type { Day, DayRange } from '../../domain/instant.ts';
import { prepareQuery } from '../engine/prepared.ts';
import { ask, type Reader } from '../engine/reader.ts';
import { planSourcesOf, type SourceRow } from './list.ts';
import { sumOf } from './parts.ts';
import { planParts } from './periods.ts';
import type { DomainScope } from './scope.ts';

/*
 * The addresses of a range that fail most. Days on which all messages of an address passed are left out before
 * anything is added up, so when few addresses fail, this costs a fraction of the list of sources.
 */

/** @internal A test reads its query plan. */
export const mostFailing = prepareQuery<
  { domainId: string; from: Day; to: Day; limit: number },
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

interface FailingSources {
  /** How many addresses had failed messages. */
  readonly total: number;
  /** Those with most failed messages first, with all that they sent in the range. */
  readonly sources: readonly SourceRow[];
}

/** The addresses of a range with most failed messages. Throws `not_found` when the account has no such domain. */
export async function readFailing(
  reader: Reader,
  scope: DomainScope,
  { range, limit }: { readonly range: DayRange; readonly limit: number },
): Promise<FailingSources> {
  return await reader.readPlan(function* () {
    const parts = yield* planParts(scope, range);
    const { from, to } = range;
    const rows = yield* ask(mostFailing({ domainId: scope.domainId, from, to, limit }));
    const addresses = rows.map(({ address }) => address);
    return { total: Number(rows[0]?.total ?? 0), sources: yield* planSourcesOf(parts, addresses) };
  });
}
