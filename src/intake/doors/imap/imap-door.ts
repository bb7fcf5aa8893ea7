import type { Logger } from 'pino';
import type { Deliver, DoorName, MailResult } from '../../../store/inbox/incoming.ts';

export const IMAP_DOOR: DoorName = 'imap';

export interface ImapGiven {
  readonly deliver: Deliver;
  readonly findResults: (keys: readonly string[]) => Promise<ReadonlyMap<string, MailResult>>;
  readonly noteDoor: (door: DoorName, error?: string) => Promise<void>;
  readonly findCheckpoint: (door: DoorName) => Promise<string | undefined>;
  readonly updateCheckpoint: (door: DoorName, checkpoint: string) => Promise<void>;
  readonly now: () => Date;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
}
