import { type Expression, type Kysely, sql } from 'kysely';
import { toPolicyTags } from '../../domain/dns/dns-record.ts';
import type { Instant } from '../../domain/instant.ts';
import { findContent } from '../../domain/reports/report-content.ts';
import { type Param, prepareQuery } from '../engine/prepared.ts';
import { ask } from '../engine/reader.ts';
import { isOfDomain } from '../lists/heads.ts';
import type { Tables } from '../tables.ts';
import { BELIEF } from './belief.ts';
import { IS_DMARC } from './believed.ts';
import type { DomainDay } from './day-sources.ts';
import { ORDER_OF_ARRIVAL, toBounds } from './views.ts';

/*
 * The policy of a day is what its last report says that states one, in the order of arrival and correction. Anybody can
 * send a mail that states a policy, so each belief has its own.
 */

/** Reporters of a day state the same policy, or none. When so many of the last reports state none, it is unknown. */
const MAX_REPORTS = 20;

/** What a day's reports state; undefined when it is unknown. */
export function* planStatedPolicy({ domainId, day, belief }: DomainDay) {
  // Nearly always, the last one states it.
  for (const limit of [1, MAX_REPORTS]) {
    const rows = yield* ask(lastReports({ domainId, belief, ...toBounds(day), limit }));
    const contents = rows.flatMap(({ content }) => findContent(content) ?? []);
    const stated = contents.map((one) => toPolicyTags(one.policyPublished)).find(Boolean);
    if (stated || rows.length < limit) return stated ?? null;
  }
  return undefined;
}

type LastQuery = Omit<DomainDay, 'day'> & { first: Instant; last: Instant; limit: number };

const lastReports = prepareQuery((db, param: Param<LastQuery>) => {
  const reports = db
    .selectFrom('report')
    .where(isOfDomain(param('domainId')))
    .where('begin_date', '>=', param('first'))
    .where('begin_date', '<=', param('last'))
    .where(IS_DMARC)
    // A sum keeps the index of days in use: by the column alone, the newest reports of all days would be read.
    .orderBy(sql`${sql.ref(ORDER_OF_ARRIVAL)} + 0`, 'desc');
  const latest = reports.select('seq').where(BELIEF, '=', param('belief')).limit(param('limit'));
  // Contents are large, so only those that are read leave the table.
  return reports.select('content').where('seq', 'in', latest);
});

/** The newest day on which a file or an established reporter states a policy, tags of a record, whatever reports count. */
export function selectStated(db: Kysely<Tables>, domainId: Expression<string>) {
  return db
    .selectFrom('domain_day')
    .where('domain_id', '=', domainId)
    .where('policy', 'is not', null)
    .where('belief', '=', 'established')
    .orderBy('day', 'desc')
    .limit(1);
}
