import type { Finding } from '../../domain/dns/report-route.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Db, Queries } from '../engine/database.ts';

/*
 * What DNS said when a person last asked whether reports about a domain can come. A type of DNS record of its own,
 * which neither alerts nor the hourly checks read.
 */

const ROUTE = 'route';
/** DNS can hold any text, and a finding quotes it. */
const MAX_CHARACTERS = 1_000;

export interface RouteCheck {
  readonly checkedAt: Instant;
  readonly findings: readonly Finding[];
}

export async function findRouteCheck(
  db: Queries,
  domainId: string,
): Promise<RouteCheck | undefined> {
  const row = await db
    .selectFrom('dns_record')
    .select(['checked_at', 'state'])
    .where('domain_id', '=', domainId)
    .where('record_type', '=', ROUTE)
    .executeTakeFirst();
  return row && { checkedAt: row.checked_at, findings: JSON.parse(row.state) };
}

export async function updateRouteCheck(
  db: Db,
  domainId: string,
  { checkedAt, findings }: RouteCheck,
): Promise<void> {
  const short = findings.map((finding) => ({ ...finding, text: toShort(finding.text) }));
  const values = { checked_at: checkedAt, state: JSON.stringify(short) };
  await db.write(async (tx) => {
    await tx
      .insertInto('dns_record')
      .values({ domain_id: domainId, record_type: ROUTE, ...values })
      .onConflict((oc) => oc.columns(['domain_id', 'record_type']).doUpdateSet(values))
      .execute();
  });
}

function toShort(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS)} …`;
}
