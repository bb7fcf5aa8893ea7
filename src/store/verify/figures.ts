import { type RawBuilder, sql } from 'kysely';
import { BELIEF } from '../days/belief.ts';
import { IS_DMARC, IS_TLS } from '../days/believed.ts';
import { DAY_COUNTS } from '../days/day-counts.ts';
import { type Param, prepareQuery } from '../engine/prepared.ts';
import { sumOf } from '../engine/sums.ts';
import { isOfDomain } from '../lists/heads.ts';
import { accountReportList, alertList } from '../lists/timeline.ts';

/*
 * Every stored figure of a domain or an account, and the query that counts it again from rows. Two queries have the same
 * columns; `at` is a day, with its belief in `domain_day` and its part in `list_day`, or null for what is stored once.
 */

export type FigureRow = Readonly<Record<string, string | number | null>>;

/** A figure that is stored otherwise than it is right. null in a row that is missing, or that should not be there. */
export interface Difference {
  readonly table: string;
  /** The name of a domain, or the id of an account. */
  readonly of: string;
  /** A day, with its belief in `domain_day`, or a part of the list; null for what is stored once. */
  readonly at: string | null;
  readonly figure: string;
  readonly stored: string | number | null;
  readonly right: string | number | null;
}

/** The owner of figures, and the ids of its lists that have days. */
type Lists = { id: string; alerts: string; reports: string };
export function toLists(id: string): Lists {
  return { id, alerts: alertList(id), reports: accountReportList(id) };
}

const NAMES = Object.keys(DAY_COUNTS) as (keyof typeof DAY_COUNTS)[];

type Expressions = Readonly<Record<keyof Lists, RawBuilder<string>>>;
type Build = (owner: Expressions) => RawBuilder<FigureRow>;

export interface Figure {
  readonly table: 'account' | 'domain' | 'domain_day' | 'list_day';
  /** Which of the owner's lists has the days of `list_day`. */
  readonly list?: 'alerts' | 'reports';
  readonly stored: ReturnType<typeof prepareFigure>;
  readonly right: ReturnType<typeof prepareFigure>;
}

function prepareFigure(build: Build) {
  return prepareQuery((db, param: Param<Lists>) => {
    const owner = {
      id: sql<string>`${param('id')}`,
      alerts: sql<string>`${param('alerts')}`,
      reports: sql<string>`${param('reports')}`,
    };
    return db.selectFrom(sql<FigureRow>`(${build(owner)})`.as('figure')).selectAll();
  });
}

function figure(table: Figure['table'], { stored, right }: Record<'stored' | 'right', Build>) {
  return { table, stored: prepareFigure(stored), right: prepareFigure(right) };
}

function daysOf(
  list: 'alerts' | 'reports',
  items: (id: RawBuilder<string>) => RawBuilder<unknown>,
) {
  const at = sql`case when part = 0 then '' else ' ' || part end as at`;
  const days = figure('list_day', {
    stored: (owner) => sql`select day || ${at}, items from list_day where list_id = ${owner[list]}`,
    right: ({ id }) =>
      sql`select date(instant) || ${at}, count(*) as items from (${items(id)}) as item group by 1`,
  });
  return { ...days, list };
}

export const OF_DOMAIN: readonly Figure[] = [
  figure('domain', {
    stored: ({
      id,
    }) => sql`select null as at, reports_total, tls_total, last_report_at, alerts_total,
      case when listing_from is null then 1 else 0 end as is_listed from domain where id = ${id}`,
    right: ({ id }) => sql`select null as at,
      (select count(*) from report where ${isOfDomain(id)} and ${IS_DMARC}) as reports_total,
      (select count(*) from report where ${isOfDomain(id)} and ${IS_TLS}) as tls_total,
      (select max(received_at) from report where ${isOfDomain(id)} and ${IS_DMARC}) as last_report_at,
      (select count(*) from alert where domain_id = ${id}) as alerts_total,
      case when listing_from is null and not exists (select 1 from report where ${isOfDomain(id)}
        and coalesce(account_seq, tls_account_seq) is distinct from case when domain.status = 'active'
          then (select seq from account where account.id = domain.account_id) end)
        then 1 else 0 end as is_listed
      from domain where id = ${id}`,
  }),
  figure('domain_day', {
    stored: ({ id }) =>
      sql`select day || ' ' || belief as at, reports, ${sql.join(NAMES.map((name) => sql.ref(name)))} from domain_day where domain_id = ${id}`,
    right: ({ id }) => sql`select date(begin_date) || ' ' || ${BELIEF} as at, count(*) as reports,
      ${sql.join(NAMES.map((name) => sql`${sumOf(DAY_COUNTS[name])} as ${sql.ref(name)}`))}
      from report where ${isOfDomain(id)} and ${IS_DMARC} group by 1`,
  }),
  daysOf(
    'alerts',
    (id) => sql`select fired_at as instant, 0 as part from alert where domain_id = ${id}`,
  ),
];

const seqOf = (id: RawBuilder<string>) => sql`(select seq from account where id = ${id})`;

/** The greatest number of what carries one. */
const newestOf = (id: RawBuilder<string>) => sql`(select max(number) from (
  select max(number) as number from report where account_seq = ${seqOf(id)}
  union all select max(number) from report where tls_account_seq = ${seqOf(id)}
  union all select max(last_change) from alert where account_id = ${id}
  union all select max(number) from domain where account_id = ${id}
  union all select max(number) from change where account_seq = ${seqOf(id)}
  union all select changes from account where id = ${id}) as numbered)`;

export const OF_ACCOUNT: readonly Figure[] = [
  figure('account', {
    stored: ({ id }) => sql`select null as at, domains_total, reports_total, alerts_total, changes
      from account where id = ${id}`,
    right: ({ id }) => sql`select null as at,
      (select count(*) from domain where account_id = ${id} and status = 'active') as domains_total,
      (select count(*) from report where account_seq = ${seqOf(id)}) as reports_total,
      (select count(*) from alert where account_id = ${id}) as alerts_total,
      ${newestOf(id)} as changes from account where id = ${id}`,
  }),
  daysOf(
    'reports',
    (id) => sql`with listed as (select * from report where account_seq = ${seqOf(id)})
    select begin_date as instant, 0 as part from listed
    union all select begin_date, reporter from listed where reporter is not null
    union all select begin_date, reporter_host from listed where reporter_host is not null`,
  ),
  daysOf(
    'alerts',
    (id) => sql`select fired_at as instant, 0 as part from alert where account_id = ${id}`,
  ),
];
