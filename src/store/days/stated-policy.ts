import { sql } from 'kysely';
import { toPolicyTags } from '../../domain/dns/dns-record.ts';
import { type ReportContent, unpackContent } from '../../domain/reports/report-content.ts';
import type { Queries } from '../engine/database.ts';
import type { DomainDay } from './day-sources.ts';
import { isCounted, ORDER_OF_ARRIVAL, toBounds } from './views.ts';

/*
 * The policy of a day: that of its last report, in the order of arrival and correction, that states one. Anybody can send
 * a mail that states a policy, so only reports of established reporters and files count.
 */

/** Reporters of a day state the same policy, or none. Of a day on which so many of the last state none, it is unknown. */
const MAX_REPORTS = 20;

/** What a day's reports state; undefined when it is unknown. */
export async function findStatedPolicy(
  db: Queries,
  { domainId, day }: DomainDay,
): Promise<string | null | undefined> {
  const { first, last } = toBounds(day);
  const latest = db
    .selectFrom('report')
    .select('content')
    .where('domain_id', '=', domainId)
    .where('begin_date', '>=', first)
    .where('begin_date', '<=', last)
    .where(isCounted('established'))
    // Of the day's reports, by the index of days: that of positions would be read from the newest report of all.
    .orderBy(sql`${sql.ref(ORDER_OF_ARRIVAL)} + 0`, 'desc');
  // Nearly always, the last one states it.
  for (const limit of [1, MAX_REPORTS]) {
    const rows = await latest.limit(limit).execute();
    const stated = rows.map(({ content }) => readPolicy(content)).find((one) => one !== null);
    if (stated !== undefined || rows.length < limit) return stated ?? null;
  }
  return undefined;
}

/** What is damaged states nothing. */
function readPolicy(content: Uint8Array): string | null {
  let unpacked: ReportContent;
  try {
    unpacked = unpackContent(content);
  } catch {
    return null;
  }
  return toPolicyTags(unpacked.policyPublished);
}
