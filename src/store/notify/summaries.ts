import type { Day, Instant } from '../../domain/instant.ts';
import type { Db } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import { insertEventFor } from '../events/events.ts';

const PEOPLE_AT_ONCE = 100;

/**
 * Writes the event of a Monday for everybody who wants the summary, in bounded transactions. Whoever wants it only since
 * this week begins with the next Monday. Returns whether it came to the end.
 */
export async function insertSummaries(
  db: Db,
  { monday, now }: { readonly monday: Day; readonly now: Instant },
  mayGoOn: () => Promise<boolean> = async () => true,
): Promise<boolean> {
  while (await mayGoOn()) {
    if ((await selectUnwritten(db, monday).limit(1).execute()).length === 0) return true;
    await db.write(async (tx) => {
      const query = selectUnwritten(tx, monday).limit(PEOPLE_AT_ONCE);
      for (const person of await query.$call(dialectOf(tx).locked).execute()) {
        const { person_id, account_id: accountId, summarised_on: before } = person;
        const written = tx.updateTable('person_mail').set({ summarised_on: monday });
        await written.where('person_id', '=', person_id).execute();
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
