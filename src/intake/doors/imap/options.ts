import type { ImapLimits } from './limits.ts';

/** One mailbox, and how to get at it. */
export interface ImapOptions {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly mailbox: string;
  /** `none` is for a server on this machine. */
  readonly security: 'tls' | 'starttls' | 'none';
  readonly credentials: Credentials;
  /** What happens to a mail in the mailbox whose outcome is known. */
  readonly done: 'move' | 'flag' | 'leave';
  readonly limits?: Partial<ImapLimits>;
  /** @internal */
  readonly ca?: string;
}

/** One of the three. */
export interface Credentials {
  readonly password?: string | undefined;
  /** Read again for each connection. */
  readonly passwordFile?: string | undefined;
  /** A program and its arguments, separated by spaces, that prints an OAuth access token; run for each connection. */
  readonly tokenCommand?: string | undefined;
}

/** Names the mailbox in keys and in the checkpoint: another mailbox has other mails. */
export function toMailboxName({ user, host, port, mailbox }: ImapOptions): string {
  return `${user}@${host}:${port}/${mailbox}`;
}
