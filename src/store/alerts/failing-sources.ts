import { setImmediate } from 'node:timers/promises';
import { type Expression, sql } from 'kysely';
import type { DataDay, FailingSource, KnownAlert } from '../../domain/alerts/facts.ts';
import type { Thresholds } from '../../domain/alerts/thresholds.ts';
import { addDays, type Day, type Instant, toDay } from '../../domain/instant.ts';
import { prepareQuery } from '../engine/prepared.ts';
import { askAll, type Reader } from '../engine/reader.ts';

/*
 * The cost is bounded. A day keeps at most 1,000 sources. Reading a day takes one index look-up for each source, and
 * at most `daysNeeded` later days for each new source. Only days that may fire and days of known alerts are read. The
 * event loop runs between two days.
 */

interface FailingQuery {
  readonly domainId: string;
  readonly now: Instant;
  readonly thresholds: Thresholds;
  readonly alerts: readonly KnownAlert[];
  /** The latest days that have data. */
  readonly days: readonly DataDay[];
  /** Failing days before this one are not needed any more. */
  readonly from: Day;
}

/** The sources that failed too much on fresh days and on days of alerts that have fired. */
export async function listFailingSources(
  reader: Reader,
  query: FailingQuery,
): Promise<FailingSource[]> {
  const found: FailingSource[] = [];
  for (const day of daysToRead(query)) {
    const sources = await readDay(reader, day, query);
    found.push(...sources);
    if (sources.length > FEW) await setImmediate();
  }
  return found;
}

/** So many sources are read in less than a millisecond; after more, the event loop runs. */
const FEW = 50;
const DAY = /^\d{4}-\d\d-\d\d$/;

function daysToRead({ now, thresholds, alerts, days }: FailingQuery): Set<Day> {
  const oldest = addDays(toDay(now), -thresholds.maxAgeDays);
  const fresh = days.filter(({ day, sources }) => day >= oldest && sources > 0);
  const fired = alerts.map(({ subject }) => subject).filter((text) => DAY.test(text));
  return new Set([...fresh.map(({ day }) => day), ...fired.filter((day) => day < oldest)]);
}

async function readDay(
  reader: Reader,
  day: Day,
  { domainId, now, thresholds, from }: FailingQuery,
): Promise<FailingSource[]> {
  const limits = {
    messages: thresholds.newSourceMessages,
    percent: thresholds.newSourceFailPercent,
  };
  const before = await reader.readAll(
    daysBefore({ domainId, day, limit: thresholds.newSourceDays }),
  );
  // A source that sent something on this day or later is not new.
  const since = before[thresholds.newSourceDays - 1]?.day ?? '';
  const until = addDays(toDay(now), 1);
  const after = day < from ? addDays(from, -1) : day;
  const query = { domainId, day, ...limits };
  const [sources, later] = await reader.readPlan(() =>
    askAll(failing(query), failingLater({ ...query, since, after, until })),
  );
  const laterDays = Map.groupBy(later, ({ address }) => address);
  return sources.map(({ previous, address, messages, aligned }) => ({
    day,
    address,
    messages,
    aligned,
    absentDays: previous === null ? null : before.filter((data) => data.day > previous).length,
    laterFailingDays: laterDays.get(address)?.map((row) => row.day) ?? [],
  }));
}

const daysBefore = prepareQuery<{ domainId: string; day: Day; limit: number }, { day: Day }>(
  (db, param) =>
    db
      .selectFrom('domain_day')
      .select('day')
      .where('domain_id', '=', param('domainId'))
      .where('day', '<', param('day'))
      .orderBy('day', 'desc')
      .limit(param('limit')),
);

type DayQuery = { domainId: string; day: Day; messages: number; percent: number };

interface Found {
  address: string;
  messages: number;
  aligned: number;
  previous: Day | null;
}

/**
 * The sources of a day that failed too much, each with the last day before it on which it sent something.
 *
 * @internal A test reads its query plan.
 */
export const failing = prepareQuery<DayQuery, Found>((db, param) =>
  db
    .selectFrom('domain_source_ip as source')
    .select(['source.address', 'source.messages', 'source.aligned'])
    .select((eb) =>
      eb
        .selectFrom('domain_source_ip as earlier')
        .select((max) => max.fn.max('earlier.day').as('day'))
        .where('earlier.domain_id', '=', param('domainId'))
        .whereRef('earlier.address', '=', 'source.address')
        .where('earlier.day', '<', param('day'))
        .as('previous'),
    )
    .where('source.domain_id', '=', param('domainId'))
    .where('source.day', '=', param('day'))
    .where('source.messages', '>=', param('messages'))
    .where(failsTooOften(param('percent'))),
);

/**
 * The days after a day on which its new sources sent too many failing messages.
 *
 * @internal A test reads its query plan.
 */
export const failingLater = prepareQuery<
  DayQuery & { since: Day; after: Day; until: Day },
  { address: string; day: Day }
>((db, param) =>
  db
    .selectFrom('domain_source_ip as source')
    // SQLite keeps the order of cross joins, and then finds each row by its whole key. Otherwise it reads all rows of
    // the later days for each source.
    .crossJoin('domain_day as data')
    .where('data.domain_id', '=', param('domainId'))
    .where('data.day', '>', param('after'))
    .where('data.day', '<=', param('until'))
    .crossJoin('domain_source_ip as later')
    .where('later.domain_id', '=', param('domainId'))
    .whereRef('later.day', '=', 'data.day')
    .whereRef('later.address', '=', 'source.address')
    .select(['source.address', 'later.day'])
    .where('source.domain_id', '=', param('domainId'))
    .where('source.day', '=', param('day'))
    .where('source.messages', '>=', param('messages'))
    .where(failsTooOften(param('percent')))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('domain_source_ip as earlier')
            .select('earlier.day')
            .where('earlier.domain_id', '=', param('domainId'))
            .whereRef('earlier.address', '=', 'source.address')
            .where('earlier.day', '>=', param('since'))
            .where('earlier.day', '<', param('day')),
        ),
      ),
    )
    .where((eb) => eb(eb('later.messages', '-', eb.ref('later.aligned')), '>=', param('messages'))),
);

/** In whole numbers: counts stop at 2^53 − 1, and a hundred times that is still an int64. */
function failsTooOften(percent: Expression<number>) {
  return sql<boolean>`(source.messages - source.aligned) * 100 >= source.messages * ${percent}`;
}
