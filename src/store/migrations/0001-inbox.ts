import type { DoneResult, DoorName, JobName, MailState } from '../../domain/incoming.ts';
import { bytes, count, id, instant, number, orNull, orZero, seq, text } from './table.ts';

/* Mails that came in through a door, with their bytes until they are read. */

export const INBOX = {
  /**
   * Rows stay for ninety days after their mails are done (`tidyInbox`), or until a million later ones are done. What waits
   * is bounded by the doors: SMTP takes no more above 100,000 mails (`room.ts`), a folder and a mailbox above some hundred
   * of their own. No index has a column that a claim changes, and there is room for the new version of each row.
   */
  inbox_mail: {
    columns: {
      seq: seq(),
      /** Its parts have it as `mail_id`. */
      id: id('unique'),
      door: text<DoorName>(),
      /** JSON: see incoming.ts. */
      envelope: text(),
      received_at: instant(),
      byte_count: count(),
      sha256: bytes(),
      /** The account whose own address the mail was sent to, or whose person uploaded it. */
      account_id: orNull(id('references account (id)')),
      key_sha256: orNull(bytes()),
      /** The sender's network and the account: they take turns (`turns.ts`). */
      sender: text(),
      /** Mails are read by ascending turns. */
      turn: count(),
      state: text<Exclude<MailState, 'claimed'>>("check (state in ('waiting', 'stuck', 'done'))"),
      /** When it can be claimed, by the database's clock: at once, after a pause, or when a claim ends. null: never. */
      due_at: orNull(instant()),
      tries: orZero(number()),
      /** The worker that has claimed it. It stays here when its claim has ended, until the next. */
      claimed_by: orNull(text()),
      last_error: orNull(text()),
      result: orNull(text<DoneResult>()),
      /** JSON: how many documents had each outcome. */
      counts: orNull(text()),
      /** Why there is no report, or the first that could not be read. */
      reason: orNull(text()),
      /** JSON, of an upload: what became of its first documents (`UploadOutcome`). */
      outcomes: orNull(text()),
      done_at: orNull(instant()),
    },
    keys: [
      // Mails by SMTP have no key.
      'unique index inbox_mail_key (key_sha256) where key_sha256 is not null',
      'index inbox_mail_door (door, seq)',
      'index inbox_mail_state (state, done_at, turn, seq)',
      "index inbox_mail_sender (sender, turn) where state = 'waiting'",
    ],
    postgres: ['primary key (seq)'],
    storage: 'fillfactor = 45',
  },

  /**
   * At most 256 KiB. Stored before the mail's row, so that a mail in the inbox is always complete, and deleted when the
   * bytes are not needed any more. SMTP takes no more above 4 GiB, and mails without a report keep 1 GiB (`room.ts`).
   */
  inbox_part: {
    columns: { mail_id: id(), part: number(), content: bytes() },
    keys: ['primary key (mail_id, part)'],
  },

  /** A row for each door and each job that was ever configured. */
  door_state: {
    columns: {
      door: text<DoorName | JobName>('primary key'),
      /** When it last said that it works. */
      worked_at: orNull(instant()),
      last_error: orNull(text()),
      last_error_at: orNull(instant()),
      /** A text of the door's own. */
      checkpoint: orNull(text()),
    },
  },
} as const;
