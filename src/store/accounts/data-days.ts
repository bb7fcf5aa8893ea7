import type { Day } from '../../domain/instant.ts';
import { prepareQuery } from '../engine/prepared.ts';
import type { Reader } from '../engine/reader.ts';

/** The first and the last day that a domain's reports begin on; null when there are none. */
export interface DataDays {
  readonly oldest: Day | null;
  readonly newest: Day | null;
}

/** Two looks into the index: `min` and `max` in one query would read all days on SQLite. */
export const dataDays = prepareQuery<{ accountId: string; domainId: string }, DataDays>(
  (db, param) =>
    db
      .selectFrom('domain')
      .select((eb) => {
        const days = eb.selectFrom('domain_day').whereRef('domain_id', '=', 'domain.id');
        return [
          days.select(({ fn }) => fn.min('day').as('day')).as('oldest'),
          days.select(({ fn }) => fn.max('day').as('day')).as('newest'),
        ];
      })
      .where('id', '=', param('domainId'))
      .where('account_id', '=', param('accountId')),
);

/** Both are null too when the account has no such domain. */
export async function findDataDays(
  reader: Reader,
  scope: { readonly accountId: string; readonly domainId: string },
): Promise<DataDays> {
  const [days] = await reader.readAll(dataDays(scope));
  return days ?? { oldest: null, newest: null };
}
