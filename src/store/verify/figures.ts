import { type RawBuilder, sql } from 'kysely';
import { type Param, prepareQuery } from '../engine/prepared.ts';
import { accountReportList, alertList } from '../lists/timeline.ts';

/*
 * Every stored figure of a domain or an account, and the query that computes it again from the rows that it counts. Two
 * queries have the same columns; `at` is the day (and the view of a day of alerts), or null for what is stored once.
 */

export type FigureRow = Readonly<Record<string, string | number | null>>;

/** An owner of lists: a domain or an account, and the ids of its list of alerts and of an account's list of reports. */
type Owner = { id: string; alerts: string; reports: string };
export function toParams({ id }: { readonly id: string }): Owner {
  return { id, alerts: alertList(id), reports: accountReportList(id) };
}

type Expressions = Readonly<Record<keyof Owner, RawBuilder<string>>>;

export interface Figure {
  readonly table: string;
  readonly stored: ReturnType<typeof prepareFigure>;
  readonly right: ReturnType<typeof prepareFigure>;
  /** Of an account's list of reports, which is made anew when one is wrong. */
  readonly isOfReports: boolean;
}

function prepareFigure(build: (owner: Expressions) => RawBuilder<FigureRow>) {
  return prepareQuery((db, param: Param<Owner>) => {
    const owner = {
      id: sql<string>`${param('id')}`,
      alerts: sql<string>`${param('alerts')}`,
      reports: sql<string>`${param('reports')}`,
    };
    return db.selectFrom(sql<FigureRow>`(${build(owner)})`.as('figure')).selectAll();
  });
}

function figure(
  table: string,
  stored: (owner: Expressions) => RawBuilder<FigureRow>,
  right: (owner: Expressions) => RawBuilder<FigureRow>,
  isOfReports = false,
): Figure {
  return { table, stored: prepareFigure(stored), right: prepareFigure(right), isOfReports };
}

/** A figure that is stored otherwise than it is right. null in a row that is missing, or that should not be there. */
export interface WrongFigure {
  readonly at: string | null;
  readonly figure: string;
  readonly stored: string | number | null;
  readonly right: string | number | null;
}

/** Of the rows of the two queries of a figure. */
export function compareRows(
  stored: readonly FigureRow[],
  right: readonly FigureRow[],
): WrongFigure[] {
  const [ones, others] = [stored, right].map(
    (rows) => new Map(rows.map((row) => [row['at'] as string | null, row])),
  ) as [Map<string | null, FigureRow>, Map<string | null, FigureRow>];
  const places = [...new Set([...ones.keys(), ...others.keys()])];
  return places.flatMap((at) => {
    const [one, other] = [ones.get(at), others.get(at)];
    const figures = Object.keys(one ?? other ?? {}).filter((name) => name !== 'at');
    return figures
      .map((figure) => {
        return { at, figure, stored: one?.[figure] ?? null, right: other?.[figure] ?? null };
      })
      .filter((compared) => String(compared.stored) !== String(compared.right));
  });
}

/** The sum of a column, which stops at 2^53 − 1. */
const sumOf = (column: string) =>
  sql.raw(
    `cast(case when sum(${column}) > 9007199254740991 then 9007199254740991 else sum(${column}) end as bigint)`,
  );

/** Of all that is stored of a report or a conflict (documents/stored-bytes.ts). */
const BYTES = sql`2048 + length(content) + (select coalesce(length(d.content), 0)
  + coalesce((select sum(length(p.content)) from document_part as p where p.document_seq = d.seq), 0)
  from document as d where d.seq = document_seq)`;

/** Of no established reporter: domain/reports/authentication.ts. Never of a file. */
const DOUBTFUL = sql`(authenticated in ('', 'disputed') or authenticated like 'new %')`;

/** A list whose items have each position once: what is no item's is a gap, from its first point on. */
const positionOf = (
  items: RawBuilder<unknown>,
  list: RawBuilder<string>,
  begin = sql`(select min(position) from list_point where list_id = ${list})`,
) => sql`(select count(*) from ${items})
  + (select count(*) from list_gap where list_id = ${list} and position > ${begin}) + ${begin}`;

const newestOf = (points: RawBuilder<unknown>) =>
  sql`(select nonce from (${points}) as point order by position desc limit 1)`;

const pointsOf = (list: RawBuilder<string>) =>
  sql`select position, nonce from list_point where list_id = ${list}`;

const alertDays = (column: 'domain_id' | 'account_id') =>
  figure(
    'list_day',
    ({ alerts }) => sql`select day as at, items from list_day where list_id = ${alerts}`,
    ({ id }) =>
      sql`select date(fired_at) as at, count(*) as items from alert where ${sql.ref(column)} = ${id} group by 1`,
  );

export const OF_DOMAIN: readonly Figure[] = [
  figure(
    'domain',
    ({
      id,
    }) => sql`select null as at, reports_total, last_report_at, reports_position, reports_nonce,
      alerts_total, alerts_position, alerts_nonce from domain where id = ${id}`,
    ({ id, alerts }) => sql`select null as at,
      (select count(*) from report where domain_id = ${id}) as reports_total,
      (select max(received_at) from report where domain_id = ${id}) as last_report_at,
      ${positionOf(sql`report where domain_id = ${id}`, id)} as reports_position,
      ${newestOf(sql`${pointsOf(id)} union all
        select position, nonce from report where domain_id = ${id}`)} as reports_nonce,
      (select count(*) from alert where domain_id = ${id}) as alerts_total,
      ${positionOf(sql`alert where domain_id = ${id}`, alerts)} as alerts_position,
      ${newestOf(pointsOf(alerts))} as alerts_nonce
      from domain where id = ${id}`,
  ),
  figure(
    'domain_day',
    ({ id }) =>
      sql`select day as at, reports, messages, aligned from domain_day where domain_id = ${id}`,
    ({ id }) => sql`select date(begin_date) as at, count(*) as reports,
      ${sumOf('total_messages')} as messages, ${sumOf('aligned_messages')} as aligned
      from report where domain_id = ${id} group by 1`,
  ),
  // A row may be left of a day of which the last such report was removed or authenticated later.
  figure(
    'alert_day',
    ({ id }) => sql`select cast(day as text) || ' ' || view as at, reports, messages, aligned
      from alert_day where domain_id = ${id}`,
    ({ id }) => sql`select cast(a.day as text) || ' ' || a.view as at, count(report.seq) as reports,
      coalesce(${sumOf('total_messages')}, 0) as messages,
      coalesce(${sumOf('aligned_messages')}, 0) as aligned
      from (select day, view from alert_day where domain_id = ${id}
        union select date(begin_date), 'established' from report
          where domain_id = ${id} and ${DOUBTFUL}
        union select date(begin_date), 'undisputed' from report
          where domain_id = ${id} and authenticated = 'disputed') as a
      left join report on domain_id = ${id} and date(begin_date) = a.day and (authenticated is null
        or (authenticated <> 'disputed' and (view = 'undisputed' or not ${DOUBTFUL}))) group by 1`,
  ),
  figure(
    'domain_receipt',
    ({ id }) =>
      sql`select day as at, reports, doubtful, bytes from domain_receipt where domain_id = ${id}`,
    ({ id }) => sql`select date(received_at) as at, count(*) as reports,
      sum(case when ${DOUBTFUL} then 1 else 0 end) as doubtful,
      cast(sum(${BYTES} + coalesce(conflicts, 0)) as bigint) as bytes from report
      left join (select report_id as id, sum(${BYTES}) as conflicts from conflict
        where domain_id = ${id} group by 1) as c on c.id = report.id
      where domain_id = ${id} group by 1`,
  ),
  figure(
    'list_gap',
    ({ id }) => sql`select null as at, count(*) - count(distinct position) as given_twice,
      (select count(*) from list_gap as g where list_id = ${id} and exists (
        select 1 from report as r where r.domain_id = ${id} and r.position = g.position)) as held
      from report where domain_id = ${id}`,
    () => sql`select null as at, 0 as given_twice, 0 as held`,
  ),
  alertDays('domain_id'),
];

/** The reports of an account's list. */
const listed = (id: RawBuilder<string>) => sql`report join domain on domain.id = report.domain_id
  and domain.account_id = ${id} and domain.status = 'active' and domain.unlisted_until is null`;

const beginOf = (id: RawBuilder<string>) =>
  sql`(select reports_begin from account where id = ${id})`;

/** What followers of it meet. */
const arrived = (
  id: RawBuilder<string>,
) => sql`account_arrival as a join domain on domain.seq = a.domain_seq
  join report as r on r.domain_id = domain.id and r.position > a.domain_position - a.length
  and r.position <= a.domain_position and a.account_seq = (select seq from account where id = ${id})
  and a.position > ${beginOf(id)}`;

export const OF_ACCOUNT: readonly Figure[] = [
  figure(
    'account_arrival',
    ({ id }) => sql`select null as at, (select count(*) from ${listed(id)}
        where account_seq = (select seq from account where id = ${id})) as found,
      (select count(*) from ${arrived(id)}) as followed,
      (select count(*) from report join account on account.seq = report.account_seq
        where account.id = ${id} and list_has_others = 0) as only_found`,
    ({ id }) => sql`select null as at, count(*) as found, count(*) as followed,
      count(*) * (select case when list_has_others = 0 then 1 else 0 end
        from account where id = ${id}) as only_found
      from ${listed(id)}`,
    true,
  ),
  figure(
    'list_day',
    ({ reports }) => sql`select day as at, items from list_day where list_id = ${reports}`,
    ({ id }) => sql`select date(begin_date) as at, count(*) as items from ${listed(id)} group by 1`,
    true,
  ),
  figure(
    'account',
    ({ id }) => sql`select null as at, reports_total, reports_position, reports_nonce
      from account where id = ${id}`,
    ({ id, reports }) => sql`select null as at,
      (select count(*) from ${listed(id)}) as reports_total,
      ${positionOf(listed(id), reports, beginOf(id))} as reports_position,
      ${newestOf(sql`${pointsOf(reports)} union all
        select a.position - a.domain_position + r.position, coalesce(a.nonce, r.nonce)
        from ${arrived(id)}`)} as reports_nonce
      from account where id = ${id}`,
    true,
  ),
  figure(
    'account',
    ({ id }) => sql`select null as at, domains_total, alerts_total, alerts_position, alerts_nonce
      from account where id = ${id}`,
    ({ id, alerts }) => sql`select null as at,
      (select count(*) from domain where account_id = ${id} and status = 'active') as domains_total,
      (select count(*) from alert where account_id = ${id}) as alerts_total,
      ${positionOf(sql`alert where account_id = ${id}`, alerts)} as alerts_position,
      ${newestOf(pointsOf(alerts))} as alerts_nonce
      from account where id = ${id}`,
  ),
  alertDays('account_id'),
];
