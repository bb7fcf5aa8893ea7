import { sql } from 'kysely';
import type { Db } from '../../src/store/engine/database.ts';

/** The sum of a column, which stops at 2^53 - 1. */
const sumOf = (column: string) =>
  sql.raw(
    `case when sum(${column}) > 9007199254740991 then 9007199254740991 else sum(${column}) end`,
  );

/** The id of the list of alerts of a domain or an account (store/lists/timeline.ts). */
const ALERTS = sql`substr(cast(id as text), 1, 14) || 'a' || substr(cast(id as text), 16)`;

/** Of all that is stored of a report or a conflict (store/documents/stored-bytes.ts). */
const BYTES = sql`2048 + length(content) + (select coalesce(length(d.content), 0)
  + coalesce((select sum(length(p.content)) from document_part as p where p.document_seq = d.seq), 0)
  from document as d where d.seq = document_seq)`;

/*
 * Every count of reports, computed again from the reports' own rows. Each pair is the stored count and the
 * correct one.
 */
const PAIRS = {
  domain_day: [
    sql`select domain_id, day, reports, messages, aligned from domain_day`,
    sql`select domain_id, date(begin_date), count(*), ${sumOf('total_messages')},
      ${sumOf('aligned_messages')} from report group by 1, 2`,
  ],
  // A row may be left of a day of which the last such report was removed or authenticated later.
  alert_day: [
    sql`select domain_id, day, view, reports, messages, aligned from alert_day`,
    sql`select a.domain_id, a.day, a.view, count(report.seq), coalesce(${sumOf('total_messages')}, 0),
      coalesce(${sumOf('aligned_messages')}, 0) from alert_day as a left join report
      on report.domain_id = a.domain_id and date(report.begin_date) = a.day and (authenticated is null or
      (authenticated <> 'disputed' and (view = 'undisputed' or authenticated <> ''))) group by 1, 2, 3`,
  ],
  alert_day_missing: [
    sql`select domain_id, day, view from (select distinct domain_id, date(begin_date) as day, 'authenticated' as view
      from report where authenticated in ('', 'disputed')
      union select distinct domain_id, date(begin_date), 'undisputed' from report where authenticated = 'disputed') as x
      where not exists (select 1 from alert_day as a
      where a.domain_id = x.domain_id and a.day = x.day and a.view = x.view)`,
    sql`select domain_id, day, view from alert_day where 1 = 0`,
  ],
  domain_receipt: [
    sql`select domain_id, day, reports, unauthenticated, bytes from domain_receipt`,
    sql`select domain_id, date(received_at), count(*),
      sum(case when authenticated in ('', 'disputed') then 1 else 0 end), sum(${BYTES} + coalesce(conflicts, 0)) from report
      left join (select report_id as id, sum(${BYTES}) as conflicts from conflict group by 1) as c
      on c.id = report.id group by 1, 2`,
  ],
  domain: [
    sql`select id, reports_total, last_report_at from domain`,
    sql`select id, (select count(*) from report where domain_id = domain.id),
      (select max(received_at) from report where domain_id = domain.id) from domain`,
  ],
  // The order of arrival: no position is given twice or lost.
  positions: [
    sql`select id, reports_position - reports_total from domain`,
    sql`select id, (select count(*) from list_gap where list_id = domain.id)
      + (select min(position) from list_point where list_id = domain.id) from domain`,
  ],
  newest_points: [
    sql`select * from (select cast(id as text), reports_position, reports_nonce from domain
      union select ${ALERTS}, alerts_position, alerts_nonce from domain
      union select ${ALERTS}, alerts_position, alerts_nonce from account) as newest`,
    sql`select cast(list_id as text), position, nonce from (
      select list_id, position, nonce, max(position) over (partition by list_id) as newest from (
        select list_id, position, nonce from list_point
        union all select domain_id, position, nonce from report) as points) as p
      where position = newest`,
  ],
  given_twice: [
    sql`select domain_id, position from report group by 1, 2 having count(*) > 1`,
    sql`select domain_id, position from report where 1 = 0`,
  ],
  held_and_gap: [
    sql`select list_id, position from list_gap where exists (
      select 1 from report where domain_id = list_id and report.position = list_gap.position)`,
    sql`select list_id, position from list_gap where 1 = 0`,
  ],
} as const;

/** Rows with a wrong, missing or superfluous count, by table; empty when every count is correct. */
export async function listMiscounts(db: Db): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {};
  for (const [table, [counted, right]] of Object.entries(PAIRS)) {
    const rows = await db.write(async (tx) => [
      ...(
        await sql`select 'counted' as found, x.* from (${counted} except ${right}) as x`.execute(tx)
      ).rows,
      ...(
        await sql`select 'right' as found, x.* from (${right} except ${counted}) as x`.execute(tx)
      ).rows,
    ]);
    if (rows.length > 0) found[table] = rows;
  }
  return found;
}
