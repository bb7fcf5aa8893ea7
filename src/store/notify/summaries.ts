import type { Counts } from '../../domain/alerts/rate.ts';
import { addDays, type Day, type Instant } from '../../domain/instant.ts';
import { sumsOfDomains } from '../accounts/worklist.ts';
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

export interface Week {
  readonly counts: Counts;
  /** Of the week before. */
  readonly before: Counts;
  /** Addresses that sent nothing in the 30 days before. */
  readonly newSources: number;
}

const WEEK = 7;
const KNOWN_DAYS = 30;

/** The week before a Monday of a domain. */
export async function readWeek(reader: Reader, domainId: string, monday: Day): Promise<Week> {
  const [from, to] = [addDays(monday, -WEEK), addDays(monday, -1)];
  const weeks = { ids: JSON.stringify([domainId]), from, to, before: addDays(from, -WEEK) };
  const [sum] = await reader.readAll(sumsOfDomains(weeks));
  const days = daysOf({ domainId, from: addDays(from, -KNOWN_DAYS), to });
  const { sums } = await sumSources(await reader.readAll(days));
  return {
    counts: { messages: sum?.messages ?? 0, aligned: sum?.aligned ?? 0 },
    before: { messages: sum?.messagesBefore ?? 0, aligned: sum?.alignedBefore ?? 0 },
    newSources: sums.filter(({ firstDay }) => firstDay >= from).length,
  };
}
