import type { Day } from '../../domain/instant.ts';
import { prepareRows } from '../engine/many-rows.ts';
import { addedSafely } from '../engine/safe-sum.ts';

/*
 * The statements that add reports to the days of domains: to days that they cover, and to days on which they came in.
 */

/** What comes to a day that reports cover: the columns of `domain_day`. */
export type NewDay = {
  readonly domain_id: string;
  readonly day: Day;
  readonly reports: number;
  readonly messages: number;
  readonly aligned: number;
  readonly sources: number;
};

/** What a day has after that. */
export interface StoredDay {
  readonly domain_id: string;
  readonly day: Day;
  readonly reports: number;
  readonly sources: number;
}

export const dayUpserts = prepareRows<NewDay, StoredDay>(
  ['domain_id', 'day', 'reports', 'messages', 'aligned', 'sources'],
  (db, rows) =>
    db
      .insertInto('domain_day')
      .values(rows)
      .onConflict((oc) =>
        oc.columns(['domain_id', 'day']).doUpdateSet((eb) => ({
          reports: eb('domain_day.reports', '+', eb.ref('excluded.reports')),
          messages: addedSafely('domain_day.messages', 'excluded.messages'),
          aligned: addedSafely('domain_day.aligned', 'excluded.aligned'),
          sources: eb('domain_day.sources', '+', eb.ref('excluded.sources')),
        })),
      )
      .returning(['domain_id', 'day', 'reports', 'sources']),
);

type NewReceipts = { readonly domain_id: string; readonly day: Day; readonly reports: number };

/** When reports came in, whatever they cover: `alert.reports_missing` needs these times. */
export const receiptUpserts = prepareRows<NewReceipts, never>(
  ['domain_id', 'day', 'reports'],
  (db, rows) =>
    db
      .insertInto('domain_receipt')
      .values(rows)
      .onConflict((oc) =>
        oc.columns(['domain_id', 'day']).doUpdateSet((eb) => ({
          reports: eb('domain_receipt.reports', '+', eb.ref('excluded.reports')),
        })),
      ),
);
