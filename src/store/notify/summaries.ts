import { addUp, type Counts } from '../../domain/alerts/rate.ts';
import { addDays, type Day, type Instant } from '../../domain/instant.ts';
import type { Db } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import type { Reader } from '../engine/reader.ts';
import { daysOf, sumSources } from '../sources/days.ts';
import { insertEventFor } from './events.ts';

const PEOPLE_AT_ONCE = 100;

interface Monday {
  readonly monday: Day;
  readonly now: Instant;
}

/**
 * Writes the event of a Monday for everybody who wants the summary, in bounded transactions. Whoever wants it only since
 * this week begins with the next Monday. Returns whether it came to the end.
 */
export async function insertSummaries(
  db: Db,
  { monday, now }: Monday,
  mayGoOn: () => Promise<boolean> = async () => true,
): Promise<boolean> {
  while (await mayGoOn()) {
    if ((await selectUnwritten(db, monday).limit(1).execute()).length === 0) return true;
    await db.write(async (tx) => {
      const query = selectUnwritten(tx, monday).limit(PEOPLE_AT_ONCE);
      for (const person of await query.$call(dialectOf(tx).locked).execute()) {
        const { person_id, account_id: accountId, summarised_on: before } = person;
        await tx
          .updateTable('person_mail')
          .set({ summarised_on: monday })
          .where('person_id', '=', person_id)
          .execute();
        const event = { accountId, type: 'summary.due' as const, at: now };
        const data = JSON.stringify({ monday });
        if (before !== null) await insertEventFor(tx, person_id, { ...event, data });
      }
    });
  }
  return false;
}

function selectUnwritten(db: Pick<Db, 'selectFrom'>, monday: Day) {
  return db
    .selectFrom('person_mail')
    .innerJoin('receiver', 'receiver.id', 'person_id')
    .select(['person_id', 'account_id', 'summarised_on'])
    .where(({ and }) => and({ summary: 1, enabled: 1 }))
    .where((eb) => eb.or([eb('summarised_on', 'is', null), eb('summarised_on', '<', monday)]))
    .orderBy('person_id');
}

export interface DomainWeek {
  readonly id: string;
  readonly name: string;
  readonly counts: Counts;
  /** Of the week before. */
  readonly before: Counts;
  /** Addresses that sent nothing in the 30 days before. */
  readonly newSources: number;
  /** Types of open alerts. */
  readonly openAlerts: readonly string[];
}

const WEEK = 7;
const KNOWN_DAYS = 30;
/** Domains of a summary; an account can have thousands. */
const MAX_DOMAINS = 25;

/** The week before a Monday of an account's active domains: those with open alerts and most messages first. */
export async function readWeek(
  { db, reader }: { readonly db: Db; readonly reader: Reader },
  accountId: string,
  monday: Day,
): Promise<{ readonly domains: readonly DomainWeek[]; readonly total: number }> {
  const from = addDays(monday, -WEEK);
  const rows = await db
    .selectFrom('domain')
    .leftJoin('domain_day', (join) =>
      join
        .onRef('domain_day.domain_id', '=', 'domain.id')
        .on('day', '>=', addDays(from, -WEEK))
        .on('day', '<', monday),
    )
    .select(['domain.id', 'name', 'day', 'messages', 'aligned'])
    .where(({ and }) => and({ account_id: accountId, status: 'active' }))
    .orderBy('name')
    .execute();
  const alerts = await db
    .selectFrom('alert')
    .select(['domain_id', 'type'])
    .where('account_id', '=', accountId)
    .where('resolved_at', 'is', null)
    .distinct()
    .execute();
  const types = Map.groupBy(alerts, ({ domain_id }) => domain_id);
  const weeks = [...Map.groupBy(rows, ({ id }) => id)].map(([id, days]) => {
    const data = days.flatMap(({ day, messages, aligned }) =>
      day === null ? [] : [{ day, messages: messages ?? 0, aligned: aligned ?? 0 }],
    );
    return {
      ...{ id, name: days[0]?.name ?? '' },
      counts: addUp(data.filter(({ day }) => day >= from)),
      before: addUp(data.filter(({ day }) => day < from)),
      openAlerts: (types.get(id) ?? []).map(({ type }) => type),
    };
  });
  weeks.sort(
    (a, b) => b.openAlerts.length - a.openAlerts.length || b.counts.messages - a.counts.messages,
  );
  const domains: DomainWeek[] = [];
  for (const week of weeks.slice(0, MAX_DOMAINS))
    domains.push({ ...week, newSources: await countNew(reader, week.id, { from, monday }) });
  return { domains, total: weeks.length };
}

async function countNew(
  reader: Reader,
  domainId: string,
  { from, monday }: { readonly from: Day; readonly monday: Day },
): Promise<number> {
  const range = { from: addDays(from, -KNOWN_DAYS), to: addDays(monday, -1) };
  const { sums } = await sumSources(await reader.readAll(daysOf({ domainId, ...range })));
  return sums.filter(({ firstDay }) => firstDay >= from).length;
}
