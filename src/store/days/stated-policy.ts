import { sql } from 'kysely';
import { toPolicyTags } from '../../domain/dns/dns-record.ts';
import { findContent } from '../../domain/reports/report-content.ts';
import type { Queries } from '../engine/database.ts';
import type { DomainDay } from './day-sources.ts';
import { isCounted, ORDER_OF_ARRIVAL, toBounds } from './views.ts';

/*
 * The policy of a day is what its last report says that states one, in the order of arrival and correction. Anybody can
 * send a mail that states a policy, so only reports of established reporters and files count.
 */

/** Reporters of a day state the same policy, or none. When so many of the last reports state none, it is unknown. */
const MAX_REPORTS = 20;

/** What a day's reports state; undefined when it is unknown. */
export async function findStatedPolicy(db: Queries, { domainId, day }: DomainDay) {
  const { first, last } = toBounds(day);
  const reports = db
    .selectFrom('report')
    .where('domain_id', '=', domainId)
    .where('begin_date', '>=', first)
    .where('begin_date', '<=', last)
    // A sum keeps the index of days in use: by the column alone, the newest reports of all days would be read.
    .orderBy(sql`${sql.ref(ORDER_OF_ARRIVAL)} + 0`, 'desc');
  const latest = reports.select('seq').where(isCounted('established'));
  // Nearly always, the last one states it.
  for (const limit of [1, MAX_REPORTS]) {
    // Contents are large, so only those that are read leave the table.
    const some = reports.select('content').where('seq', 'in', latest.limit(limit));
    const rows = await some.execute();
    const contents = rows.flatMap(({ content }) => findContent(content) ?? []);
    const stated = contents.map((one) => toPolicyTags(one.policyPublished)).find(Boolean);
    if (stated || rows.length < limit) return stated ?? null;
  }
  return undefined;
}
