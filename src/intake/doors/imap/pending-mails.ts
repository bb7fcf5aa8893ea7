import type { ImapLimits } from './options.ts';

/** UIDs of mails in the inbox whose outcome is not known, with their sizes. */
export class PendingMails extends Map<number, number> {
  get uids(): number[] {
    return [...this.keys()];
  }

  isFull({ maxPending, maxPendingBytes }: ImapLimits): boolean {
    const bytes = this.values().reduce((sum, one) => sum + one, 0);
    return this.size >= maxPending || bytes >= maxPendingBytes;
  }
}
