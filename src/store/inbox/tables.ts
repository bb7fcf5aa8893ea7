import type { Generated, GeneratedAlways } from 'kysely';
import type { Instant } from '../../domain/instant.ts';
import type { DoorName, MailResult } from './incoming.ts';

export type MailState = 'waiting' | 'claimed' | 'stuck' | 'done';
export type DoneResult = Exclude<MailResult, 'waiting' | 'stuck'> | 'dropped';

/** The row stays for some time after the mail is done. */
export interface InboxMailTable {
  seq: GeneratedAlways<number>;
  /** Its parts have it as `mail_id`. */
  id: string;
  door: DoorName;
  /** JSON: see incoming.ts. */
  envelope: string;
  received_at: Instant;
  byte_count: number;
  sha256: string;
  /** The account whose own address the mail was sent to. */
  account_id: string | null;
  key_sha256: Uint8Array | null;
  state: MailState;
  /** When it can be claimed, by the database's clock: at once, after a pause, or when a claim ends. null: never. */
  due_at: Instant | null;
  tries: Generated<number>;
  claimed_by: string | null;
  last_error: string | null;
  result: DoneResult | null;
  /** JSON: how many documents had each outcome. */
  counts: string | null;
  /** Why there is no report, or the first that could not be read. */
  reason: string | null;
  done_at: Instant | null;
}

/** At most 256 KiB. Stored before the mail's row, and deleted when the bytes are not needed any more. */
export interface InboxPartTable {
  mail_id: string;
  part: number;
  stored_at: Instant;
  content: Uint8Array;
}

export interface DoorStateTable {
  door: DoorName;
  /** When it last said that it works. */
  noted_at: Instant;
  last_error: string | null;
  last_error_at: Instant | null;
  /** A text of the door's own. */
  checkpoint: string | null;
}
