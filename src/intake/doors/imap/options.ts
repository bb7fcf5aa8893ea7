import type { Logger } from 'pino';
import type { Deliver, DoorName, MailResult } from '../../../domain/incoming.ts';
import { MAX_MAIL_BYTES } from '../../limits.ts';

export interface ImapDeps {
  readonly deliver: Deliver;
  readonly findResults: (keys: readonly string[]) => Promise<ReadonlyMap<string, MailResult>>;
  readonly noteDoor: (door: DoorName, error?: string) => Promise<void>;
  readonly findCheckpoint: (door: DoorName) => Promise<string | undefined>;
  readonly updateCheckpoint: (door: DoorName, checkpoint: string) => Promise<void>;
  readonly now: () => Date;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
}

export interface MailboxOptions {
  /** `imap`, or `imap:2` for the second mailbox. */
  readonly door: DoorName;
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly mailbox: string;
  /** `none` is for a server on this machine. */
  readonly security: 'tls' | 'starttls' | 'none';
  readonly done: 'move' | 'flag' | 'leave';
  readonly limits?: Partial<ImapLimits>;
}

export interface ImapOptions extends MailboxOptions {
  readonly credentials: Credentials;
  /** A file with the certificates of the authority that signed the server's, in place of the public ones. */
  readonly caFile?: string | undefined;
}

export type Secrets = ({ readonly pass: string } | { readonly accessToken: string }) & {
  readonly ca?: string;
};

/** One of the three. */
export interface Credentials {
  readonly password?: string | undefined;
  /** Read again for each connection. */
  readonly passwordFile?: string | undefined;
  /** A program and its arguments, separated by spaces, that prints an OAuth access token; run for each connection. */
  readonly tokenCommand?: string | undefined;
}

const MIB = 1024 * 1024;

export const IMAP_LIMITS = {
  /** A larger mail is not fetched. */
  maxMailBytes: MAX_MAIL_BYTES,
  /** Mails that are fetched by one command: so many, with so many bytes, unless it is one mail. */
  batchMails: 64,
  batchBytes: 4 * MIB,
  /** UIDs that are listed by one command, unless they have a gap. */
  windowUids: 256,
  /**
   * Mails in the inbox whose outcome is not known yet, and their bytes. With more the door waits, and a stranger's mails keep
   * those behind them out of the inbox, where senders take turns.
   */
  maxPending: 10_000,
  maxPendingBytes: 1024 * MIB,
  /** A mail at which the connection was lost so often, or that was refused a quarter as often, is given up: rejected. */
  maxLostFetches: 12,
  /** How often the door asks for the outcome of pending mails while it waits. */
  resultsMs: 1_000,
  /** The pause for each of them: to ask for one takes some 5 µs of CPU. */
  pauseMs: 0.5,
  /** How often a server is asked for new mails: with IDLE, which usually tells of them, and without. */
  idleMs: 240_000,
  pollMs: 60_000,
  /** Silence of the server within a command, and a command without an end. */
  socketMs: 120_000,
  commandMs: 300_000,
  /** How long a command in progress may take when the process stops. */
  stopMs: 4_000,
  /** The wait before the next try, after a refusal to move or flag mails. */
  refileMs: 300_000,
  /** The first wait before connecting again. It doubles with every failure. */
  firstRetryMs: 1_000,
  /** The first wait after a fault that lasts: servers lock out whoever tries wrong credentials too often. */
  lastingRetryMs: 30_000,
  maxRetryMs: 300_000,
  /** A door that says nothing for 15 minutes counts as one that no process has open. */
  maxPauseMs: 600_000,
} as const;

export type ImapLimits = { readonly [Name in keyof typeof IMAP_LIMITS]: number };
