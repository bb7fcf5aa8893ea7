import type { Tx } from '../../engine/database.ts';
import { prepareQuery, runAllPrepared, runPrepared } from '../../engine/prepared.ts';
import { type DomainDay, LONG_DETAILS, parseDetails, renderDetails } from './details.ts';

/* Details grow with each report (details.ts). Entries of long ones are added up, and the largest patterns kept. */

/** Looking for long details reads all sources of the day, so it is done once in so many reports. */
const REPORTS_BETWEEN = 32;

/** Whether the number of a day's reports has passed a multiple of `REPORTS_BETWEEN`. */
export function isTimeToShorten([before, after]: readonly [number, number]): boolean {
  return Math.floor(before / REPORTS_BETWEEN) < Math.floor(after / REPORTS_BETWEEN);
}

export async function shortenDetails(tx: Tx, { domainId, day }: DomainDay): Promise<void> {
  const rows = await runPrepared(tx, longDetails({ domainId, day, chars: LONG_DETAILS }));
  const updates = rows.map(({ address, details }) =>
    detailsUpdate({ domainId, day, address, details: renderDetails(parseDetails(details)) }),
  );
  await runAllPrepared(tx, updates);
}

type LongDetailsQuery = { domainId: string; day: string; chars: number };

const longDetails = prepareQuery<LongDetailsQuery, { address: string; details: string }>(
  (db, param) =>
    db
      .selectFrom('domain_source_ip')
      .select(['address', 'details'])
      .where('domain_id', '=', param('domainId'))
      .where('day', '=', param('day'))
      .where(({ fn }) => fn<number>('length', ['details']), '>', param('chars')),
);

type Update = { domainId: string; day: string; address: string; details: string };

const detailsUpdate = prepareQuery<Update, never>((db, param) =>
  db
    .updateTable('domain_source_ip')
    .set({ details: param('details') })
    .where('domain_id', '=', param('domainId'))
    .where('day', '=', param('day'))
    .where('address', '=', param('address')),
);
