import { type Day, type Instant, toDay } from '../../domain/instant.ts';
import { findReporterName } from '../../domain/reports/reporters.ts';
import { findPolicies } from '../../domain/reports/tls-content.ts';
import { type TlsDay, TlsDays } from '../../domain/tls/tls-day.ts';
import { type Param, prepareQuery, type RowOfQuery } from '../engine/prepared.ts';
import { ask, type Plan } from '../engine/reader.ts';
import { isOfDomain } from '../lists/heads.ts';
import { BELIEF } from './belief.ts';
import { IS_TLS } from './believed.ts';
import { toBounds } from './views.ts';

/*
 * Days of TLS reports are read from the reports themselves: a domain gets a few a day. Only files and reports of established
 * reporters count, also where there are no others (RFC 8460, section 3).
 */

export interface TlsDaysQuery {
  readonly domainId: string;
  /** Both included. */
  readonly from: Day;
  readonly to: Day;
  /** So many days that have reports, the newest ones; all of them unless it is given. */
  readonly days?: number;
}

const REPORTS_AT_ONCE = 100;
/** A year of 50 reporters. Of more the newest are read. */
const MAX_REPORTS = 20_000;

/** Newest day first. */
export function* planTlsDays(query: TlsDaysQuery): Plan<readonly TlsDay[]> {
  const { domainId, from, to, days = Number.POSITIVE_INFINITY } = query;
  const sums = new TlsDays();
  const seen = new Set<Day>();
  const oldest = toBounds(from).first;
  let before = { begin: toBounds(to).last, seq: Number.MAX_SAFE_INTEGER };
  for (let read = 0; read < MAX_REPORTS; read += REPORTS_AT_ONCE) {
    const rows = yield* ask(believedTls({ domainId, oldest, ...before, limit: REPORTS_AT_ONCE }));
    for (const row of rows) {
      const day = toDay(row.begin_date);
      if (seen.add(day).size > days) return sums.toList();
      sums.add({ day, reporter: toReporter(row), policies: findPolicies(row.content) ?? [] });
    }
    const last = rows[REPORTS_AT_ONCE - 1];
    if (last === undefined) break;
    before = { begin: last.begin_date, seq: last.seq };
  }
  return sums.toList();
}

type Row = RowOfQuery<typeof believedTls>;

/** Who signed, whatever it calls itself; of a file, whom it names. */
function toReporter(row: Row) {
  const name = findReporterName(row) ?? row.authenticated ?? 'unknown';
  return { key: row.authenticated ?? `${name.toLowerCase()} `, name };
}

type Part = { domainId: string; oldest: Instant; begin: Instant; seq: number; limit: number };

const believedTls = prepareQuery((db, param: Param<Part>) =>
  db
    .selectFrom('report')
    .select(['begin_date', 'seq', 'reporter_org', 'reporter_email', 'authenticated', 'content'])
    .where(isOfDomain(param('domainId')))
    .where(IS_TLS)
    .where('begin_date', '>=', param('oldest'))
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('begin_date', 'seq'), '<', tuple(param('begin'), param('seq'))),
    )
    .where(BELIEF, '=', 'established')
    .orderBy('begin_date', 'desc')
    .orderBy('seq', 'desc')
    .limit(param('limit')),
);

/** When the report of the newest window was received. No row without one. */
export const newestTls = prepareQuery((db, param: Param<{ domainId: string }>) =>
  db
    .selectFrom('report')
    .select('received_at')
    .where(isOfDomain(param('domainId')))
    .where(IS_TLS)
    .orderBy('begin_date', 'desc')
    .orderBy('seq', 'desc')
    .limit(1),
);

/** A row where an alert about TLS is open, or a report since then tells of a failure: else nothing fires, and nothing resolves. */
export const doubtfulTls = prepareQuery(
  (db, param: Param<{ domainId: string; since: Instant; type: string }>) =>
    db
      .selectFrom('report')
      .select('begin_date as at')
      .where(isOfDomain(param('domainId')))
      .where(IS_TLS)
      .where('begin_date', '>=', param('since'))
      .whereRef('aligned_messages', '<', 'total_messages')
      .unionAll(
        db
          .selectFrom('alert')
          .select('fired_at as at')
          .where('domain_id', '=', param('domainId'))
          .where('resolved_at', 'is', null)
          .where('type', '=', param('type')),
      )
      .limit(1),
);
