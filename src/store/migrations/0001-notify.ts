import type { ChannelName, EventType } from '../../domain/events.ts';
import type { AlertMail } from '../../domain/mail-choice.ts';
import type { Format, OffReason } from '../../domain/webhooks/webhook.ts';
import {
  bytes,
  count,
  day,
  flag,
  id,
  instant,
  number,
  orNull,
  orZero,
  seq,
  text,
  UPDATED_IN_PLACE,
} from './table.ts';

/** Who is told of events, and of what. Times that end with `_ms` are of the database's clock, since 1970. */
export const NOTIFY = {
  /**
   * A webhook's endpoint or a person who gets mail: an account has at most MAX_WEBHOOKS endpoints, and one row for a
   * person. Goes with the endpoint or the person.
   */
  receiver: {
    columns: {
      id: id('primary key'),
      account_id: id('references account (id)'),
      channel: text<ChannelName>("check (channel in ('webhook', 'mail'))"),
      /** The types of events that it gets, separated by blanks. */
      event_types: text(),
      enabled: flag(),
      /** When its first waiting delivery is due; null when none waits. */
      due_at_ms: orNull(count()),
      /** Nobody may claim it before: a process delivers to it, or it rests after failures. */
      free_at_ms: orZero(count()),
      claimed_by: orNull(text()),
      /** The first failure since the last success. */
      failing_since_ms: orNull(count()),
    },
    keys: [
      'index receiver_account (account_id)',
      'index receiver_due (free_at_ms, due_at_ms) where due_at_ms is not null',
    ],
    storage: UPDATED_IN_PLACE,
  },

  /** The endpoint of a receiver. An account has at most MAX_WEBHOOKS; people and operators delete them. */
  webhook: {
    columns: {
      id: id('primary key references receiver'),
      url: text(),
      format: text<Format>("check (format in ('standard', 'slack'))"),
      /** Empty for none. */
      description: text(),
      /** Encrypted (decision 100), about its id. */
      sealed_secret: text(),
      /** The one from before the last rotation. */
      old_sealed_secret: orNull(text()),
      /** Both sign until then. */
      old_until: orNull(instant()),
      /** Why Plumbline turned it off; null when a person did, and while it is on. */
      off_reason: orNull(text<OffReason>()),
      created_at: instant(),
    },
  },

  /** Written where somebody receives it. Deleted after EVENT_DAYS (events/events.ts), with its deliveries. */
  event: {
    columns: {
      seq: seq(),
      /** The same for all receivers and every try. */
      id: id(),
      account_id: id('references account (id)'),
      type: text<EventType>(),
      /** The alert that it is of, so that its page says who was told. */
      alert_id: orNull(id()),
      at: instant(),
      /** JSON object. */
      data: text(),
      /** Whether its deliveries are still to be written. */
      is_new: flag(),
    },
    keys: [
      'index event_new (seq) where is_new = 1',
      'index event_alert (alert_id) where alert_id is not null',
    ],
    postgres: ['primary key (seq)'],
  },

  /** An event for one receiver, which may have gone since. */
  delivery: {
    columns: {
      event_seq: count(),
      receiver_id: id(),
      /** When it is tried next; null when it is not. */
      due_at_ms: orNull(count()),
      state: text<'waiting' | 'delivered' | 'failed'>(),
      tries: orZero(number()),
      /** When it was last tried. */
      tried_at: orNull(instant()),
      took_ms: orNull(number()),
      /** The status of HTTP or SMTP; null when there was no answer. */
      status: orNull(number()),
      /** The beginning of the answer, or why there is none. */
      answer: orNull(text()),
    },
    keys: [
      'index delivery_due (receiver_id, due_at_ms) where due_at_ms is not null',
      'index delivery_list (receiver_id, event_seq)',
    ],
    clusteredBy: 'event_seq, receiver_id',
    storage: UPDATED_IN_PLACE,
  },

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
      /** How many mails went on a day, how many of them were neither about alerts nor links, and when one about keys went. */
      sent_on: orNull(day()),
      sent: orZero(number()),
      others: orZero(number()),
      keys_at: orNull(instant()),
      /** How many about alerts went since an instant. */
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
