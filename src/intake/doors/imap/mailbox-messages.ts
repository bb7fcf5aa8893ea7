import type { Logger } from 'pino';
import type { ImapDeps, MailboxOptions } from './options.ts';

/*
 * What is sent between the process that has the store (mailbox-process.ts) and the one that reads the mailbox
 * (mailbox-child.ts). At most one batch of mails is on its way.
 */

export const QUESTIONS = [
  'readSecrets',
  'deliver',
  'findResults',
  'noteDoor',
  'findCheckpoint',
  'updateCheckpoint',
] as const satisfies readonly (keyof ImapDeps)[];

export type Question = (typeof QUESTIONS)[number];

export interface Asked {
  readonly id: number;
  readonly question: Question;
  readonly args: readonly unknown[];
}

export interface Logged {
  readonly level: keyof ImapDeps['log'] & keyof Logger;
  readonly line: readonly [fields: object, text?: string];
}

export interface Answered {
  readonly id: number;
  readonly value?: unknown;
  /** An error loses its class when it is sent. `isLasting` is that of a DoorFault. */
  readonly error?: { readonly message: string; readonly isLasting?: boolean | undefined };
}

export type ToChild = Answered | { readonly begin: MailboxOptions } | 'stop';
export type ToParent = Asked | Logged;
