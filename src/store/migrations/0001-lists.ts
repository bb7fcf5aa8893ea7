import { count, day, id, number, orNull, text, UPDATED_IN_PLACE } from './table.ts';

/* What lists keep beside their items. Their ids: lists/timeline.ts. */

export const LISTS = {
  /** How many alerts of a list are on a day, to find a deep page (timeline.ts); of reports, `domain_day` says it. A day's last item takes its row along. */
  list_day: {
    columns: { list_id: id(), day: day(), items: count() },
    clusteredBy: 'list_id, day',
    storage: UPDATED_IN_PLACE,
  },

  /**
   * The last position that a transaction gave to changes of a list, and the transaction's random nonce (points.ts): the
   * beginning of each list, and a change of alerts; reports have their own. Of a report that was corrected or removed, what
   * it had. An alert has four, a correction one. Clients can come back with any point, so rows go only with the
   * oldest reports, or when no account has the domain (`beginAfter`).
   */
  list_point: {
    columns: { list_id: id(), position: count(), nonce: text() },
    clusteredBy: 'list_id, position',
  },

  /**
   * A position of a list whose item was removed or has a later position. One a correction, two a resolved or removed
   * alert. Also of a report that went by age before an older
   * one did. Rows go as points do, because totals behind a point are counted with them.
   */
  list_gap: {
    columns: { list_id: id(), position: count(), nonce: count() },
    clusteredBy: 'list_id, position',
  },

  /**
   * Which positions of a domain's list of reports have which of its account's, up to `position` and `domain_position`. A
   * transaction that stores reports adds a row for each domain, or makes the last row longer, when that is of the same
   * domain (account-reports/). The oldest go with their reports, and all are made anew when a domain leaves the list: those
   * up to the account's `reports_begin` nobody reads. Where reports of many domains come by turns, each has a row: so
   * rows have the numbers of their account and domain, not the ids.
   */
  account_arrival: {
    columns: {
      position: count(),
      domain_position: number(),
      domain_seq: number(),
      account_seq: number(),
      length: number(),
      /** Of the domain that joined with these reports; null: each has the nonce of its report. */
      nonce: orNull(text()),
    },
    keys: ['index account_arrival_of_domain (domain_seq, domain_position)'],
    clusteredBy: 'account_seq, position',
  },
} as const;
