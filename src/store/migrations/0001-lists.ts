import type { ChangeType } from '../../domain/events.ts';
import {
  count,
  day,
  id,
  instant,
  number,
  orNull,
  orZero,
  text,
  UPDATED_IN_PLACE,
} from './table.ts';

/* What lists keep beside their items. Their ids: lists/timeline.ts. */

export const LISTS = {
  /**
   * How many items of a list are on a day, to find a deep page (timeline.ts); of a domain's reports, `domain_day` says it. The
   * last item of a day takes its row along.
   */
  list_day: {
    columns: {
      list_id: id(),
      /** 0: all items. A reporter's key: those of an account's reports that have its name (domain/reports/reporters.ts). */
      part: orZero(count()),
      day: day(),
      items: count(),
    },
    clusteredBy: 'list_id, part, day',
    storage: UPDATED_IN_PLACE,
  },

  /**
   * The changes of an account, in one order (lists/changes.ts): the last number that a transaction gave to reports and
   * alerts, and what has no row of its own. A transaction adds a row. Rows go after KEPT_DAYS, and with the account.
   */
  change: {
    columns: {
      number: count(),
      at: instant(),
      domain_id: orNull(id()),
      report_id: orNull(id()),
      account_seq: number(),
      /** null: the reports and alerts that have this number, or a number after that of the row before. */
      type: orNull(text<ChangeType>()),
      /** Random, of the transaction: it distinguishes the number from the same one before a restore. */
      nonce: text(),
    },
    clusteredBy: 'account_seq, number',
    // It has all that the feed reads: else SQLite would read the transactions between them.
    keys: [
      'index change_typed (account_seq, number, type, domain_id, report_id, at) where type is not null',
    ],
  },
} as const;
