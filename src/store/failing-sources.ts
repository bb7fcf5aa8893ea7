import { type Expression, sql } from 'kysely';
import type { FailingSource, KnownAlert } from '../domain/alerts/facts.ts';
import type { Thresholds } from '../domain/alerts/thresholds.ts';
import { addDays, type Day, type Instant, toDay } from '../domain/instant.ts';
import { prepareQuery } from './prepared.ts';
import type { Reader } from './reader.ts';

interface Asked {
  readonly domainId: string;
  readonly now: Instant;
  readonly thresholds: Thresholds;
  readonly alerts: readonly KnownAlert[];
  /** Failing days before this one do not matter any more. */
  readonly from: Day;
}

/** The sources that failed too much on days that are fresh, and on those of alerts that have fired. */
export async function listFailingSources(reader: Reader, asked: Asked): Promise<FailingSource[]> {
  const { domainId, now, thresholds, alerts, from } = asked;
  const fresh = addDays(toDay(now), -thresholds.maxAgeDays);
  const until = addDays(toDay(now), 1);
  const days = new Set(alerts.map(({ subject }) => subject).filter((text) => DAY.test(text)));
  const spans = [
    { since: fresh, until },
    ...[...days].filter((day) => day < fresh).map((day) => ({ since: day, until: day })),
  ];
  const found: FailingSource[] = [];
  for (const span of spans) {
    const limits = {
      messages: thresholds.newSourceMessages,
      percent: thresholds.newSourceFailPercent,
    };
    const query = { domainId, ...span, ...limits };
    const [sources, later] = await reader.readTogether(
      failing(query),
      failingLater({ ...query, from }),
    );
    found.push(
      ...sources.map((source) => ({ ...source, laterFailingDays: daysOf(source, later) })),
    );
  }
  return found;
}

const DAY = /^\d{4}-\d\d-\d\d$/;

type Wanted = { domainId: string; since: Day; until: Day; messages: number; percent: number };
type Found = Omit<FailingSource, 'laterFailingDays'>;

const failing = prepareQuery<Wanted, Found>((db, param) =>
  db
    .selectFrom('domain_source as source')
    .select(['source.day', 'source.address', 'source.messages', 'source.aligned'])
    .select((eb) => {
      const previous = eb
        .selectFrom('domain_source as earlier')
        .select((max) => max.fn.max('earlier.day').as('day'))
        .whereRef('earlier.domain_id', '=', 'source.domain_id')
        .whereRef('earlier.address', '=', 'source.address')
        .whereRef('earlier.day', '<', 'source.day');
      return eb
        .case()
        .when(previous, 'is', null)
        .then(null)
        .else(
          eb
            .selectFrom('domain_day')
            .select((count) => count.fn.countAll<number>().as('days'))
            .whereRef('domain_day.domain_id', '=', 'source.domain_id')
            .whereRef('domain_day.day', '<', 'source.day')
            .where('domain_day.day', '>', previous),
        )
        .end()
        .as('absentDays');
    })
    .where('source.domain_id', '=', param('domainId'))
    .where('source.day', '>=', param('since'))
    .where('source.day', '<=', param('until'))
    .where('source.messages', '>=', param('messages'))
    .where(failsTooOften(param('percent'))),
);

interface Later {
  since: Day;
  address: string;
  day: Day;
}

/** The days after theirs on which the same addresses sent too many failing messages. */
const failingLater = prepareQuery<Wanted & { from: Day }, Later>((db, param) =>
  db
    .selectFrom('domain_source as source')
    .innerJoin('domain_source as later', (join) =>
      join
        .onRef('later.domain_id', '=', 'source.domain_id')
        .onRef('later.address', '=', 'source.address')
        .onRef('later.day', '>', 'source.day')
        .on('later.day', '>=', param('from')),
    )
    .select(['source.day as since', 'source.address', 'later.day'])
    .where('source.domain_id', '=', param('domainId'))
    .where('source.day', '>=', param('since'))
    .where('source.day', '<=', param('until'))
    .where('source.messages', '>=', param('messages'))
    .where(failsTooOften(param('percent')))
    .where((eb) => eb(eb('later.messages', '-', eb.ref('later.aligned')), '>=', param('messages'))),
);

function daysOf({ day, address }: Found, later: readonly Later[]): Day[] {
  return later.filter((row) => row.since === day && row.address === address).map((row) => row.day);
}

/** Whether so many of 100 of a source's messages fail, in whole numbers. */
function failsTooOften(percent: Expression<number>) {
  return sql<boolean>`(source.messages - source.aligned) * 100 >= source.messages * ${percent}`;
}
