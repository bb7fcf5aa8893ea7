import type { AlertMail } from '../../domain/mail-choice.ts';
import {
  bytes,
  day,
  flag,
  id,
  instant,
  number,
  orNull,
  orZero,
  text,
  UPDATED_IN_PLACE,
} from './table.ts';

/* Mail to people. Who gets it is a row of `receiver` with the person's id (0001-notify.ts). */

export const MAIL = {
  /** What a person wants, and how it went. One for each person; goes with the person. */
  person_mail: {
    columns: {
      person_id: id('primary key references person'),
      alerts: text<AlertMail>("check (alerts in ('at_once', 'daily', 'none'))"),
      summary: orZero(flag()),
      /** The last Monday whose summary is written. */
      summarised_on: orNull(day()),
      /** Signs the links that end a subscription: domain/mail-choice.ts. */
      link_key: bytes(),
      /** How many mails about alerts went on a day, and since an instant. */
      sent_on: orNull(day()),
      sent: orZero(number()),
      burst_since: orNull(instant()),
      burst: orZero(number()),
      /** How often in a row the server refused the address for good, and what it said. */
      refusals: orZero(number()),
      refusal: orNull(text()),
    },
    storage: UPDATED_IN_PLACE,
  },

  /** A domain about which a person wants no mail. At most MAX_LEFT_OUT for each; goes with the person. */
  mail_left_out: {
    columns: { person_id: id('references person'), domain_id: id() },
    clusteredBy: 'person_id, domain_id',
  },

  /** The server that sends mail, when there is one: then people are receivers. One row. */
  mail_server: { columns: { host: text('primary key') } },
} as const;
