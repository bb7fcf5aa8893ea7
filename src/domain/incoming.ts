import { hash } from 'node:crypto';
import type { Instant } from './instant.ts';

/* What the doors (SMTP, IMAP, folders, uploads on a page) and the inbox agree on. */

/** More than any mail provider allows: an archive in a folder is one input. */
export const MAX_INCOMING_BYTES = 128 * 1024 * 1024;

/** `smtp`, `imap`, `imap:2`, `folder:/srv/drop`: the kind, and what distinguishes doors of one kind. At most 300 characters. */
export type DoorName = DoorKind | `${DoorKind}:${string}`;
export type DoorKind = 'smtp' | 'imap' | 'folder' | 'upload';

/** A job, which says of itself whether it works as doors do. */
export type JobName = `job:${string}`;

/** What metrics call a door: a folder's name has its path, which they may not have. */
export function toDoorLabel(door: DoorName): string {
  return door.startsWith('folder:') ? 'folder' : door;
}

/** How a mail came in. Every text is cut to 320 characters, and of recipients 20 are kept. */
export interface Envelope {
  readonly sender?: string | undefined;
  readonly recipients?: readonly string[] | undefined;
  /** SMTP and uploads: the client's address. */
  readonly remoteAddress?: string | undefined;
  /** SMTP: the name that the client gave itself. */
  readonly helo?: string | undefined;
  /** IMAP: mailbox and UID, such as `INBOX/4711`. A folder: the path of the file. */
  readonly place?: string | undefined;
  /** Put into a folder for files: without a report it is rejected, as by `plumbline ingest`. A mail is ignored. */
  readonly kind?: 'file' | undefined;
  /** An upload that is believed as a file is, about domains of its account. */
  readonly isTrusted?: boolean | undefined;
}

export interface Incoming {
  readonly door: DoorName;
  /** The original bytes, at most `MAX_INCOMING_BYTES`. Parts are stored while an iterable still gives more. */
  readonly bytes: Uint8Array | AsyncIterable<Uint8Array>;
  readonly envelope: Envelope;
  /** SMTP: the client is a relay of the operator's own, so its address says nothing of the sender. */
  readonly isRelayed?: boolean;
  readonly receivedAt: Instant;
  /** The account whose own address the recipient named, or whose person uploaded it. */
  readonly accountId?: string | undefined;
  /**
   * The door's own key of the mail (IMAP: host, user, mailbox, UIDVALIDITY and UID), of any length. A mail whose key
   * is in the inbox already is not stored again.
   */
  readonly key?: string | undefined;
}

/**
 * Resolves when the mail is durably stored. Throws when it is not: a Failure `unavailable` (the database) or
 * `limit_reached` (too large), or the iterable's own error. Nothing of the mail is then in the inbox.
 */
export type Deliver = (incoming: Incoming) => Promise<void>;

/** What became of a mail that a door delivered with a key. */
export type MailResult =
  /** Not tried yet. */
  | 'waiting'
  /** A fault of our own has kept it from being read. It is tried again, hours later perhaps. */
  | 'delayed'
  /** A fault of our own has kept it from being read ten times; an operator decides. */
  | 'stuck'
  /** It contains a report: stored, unclaimed, a duplicate, a conflict, or removed before. */
  | 'processed'
  /** It contains a report that could not be read, and none that could. */
  | 'rejected'
  /** There is no report in it: other people's mail, failure reports, auto-replies, bounces. */
  | 'ignored';

/** What became of a document of an upload. */
export interface UploadOutcome {
  readonly file: string;
  readonly outcome: string;
  /** Of a report. */
  readonly domain?: string | undefined;
  readonly reportId?: string | undefined;
  /** Why there is no report. */
  readonly message?: string | undefined;
}

/** `claimed`: it waits, and a worker has claimed it. */
export type MailState = 'waiting' | 'claimed' | 'stuck' | 'done';
export type DoneResult = Exclude<MailResult, 'waiting' | 'delayed' | 'stuck'> | 'dropped';

/** The longest address has 254 characters (RFC 5321, 4.5.3.1). */
const MAX_CHARS = 320;
const MAX_RECIPIENTS = 20;

export function toEnvelopeText(envelope: Envelope): string {
  const recipients = envelope.recipients?.slice(0, MAX_RECIPIENTS);
  return JSON.stringify({ ...envelope, recipients }, (_name, value) =>
    typeof value === 'string' ? toCut(value) : value,
  );
}

/** The beginning of a text. PostgreSQL stores neither half a character at its end nor U+0000: both are replaced. */
export function toCut(text: string, chars = MAX_CHARS): string {
  return text.slice(0, chars).toWellFormed().replaceAll('\0', '\ufffd');
}

export function parseEnvelope(text: string): Envelope {
  return JSON.parse(text);
}

export function hashKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}
