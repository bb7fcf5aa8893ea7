import type { MailResult } from '../../../store/inbox/incoming.ts';
import type { ImapLimits } from './options.ts';

/** UIDs of mails in the inbox whose outcome is not known. Those that are read later keep nobody else's out. */
export class PendingMails {
  readonly #limits: Pick<ImapLimits, 'maxPending' | 'maxDelayed'>;
  readonly #waiting = new Set<number>();
  readonly #delayed = new Set<number>();

  constructor(limits: Pick<ImapLimits, 'maxPending' | 'maxDelayed'>) {
    this.#limits = limits;
  }

  get uids(): number[] {
    return [...this.#waiting, ...this.#delayed];
  }

  isFull = (): boolean =>
    this.#waiting.size >= this.#limits.maxPending || this.#delayed.size >= this.#limits.maxDelayed;

  add(uid: number): void {
    if (!this.#delayed.has(uid)) this.#waiting.add(uid);
  }

  isNew(uid: number, result: MailResult | undefined): boolean {
    return result !== 'waiting' && (result !== 'delayed' || !this.#delayed.has(uid));
  }

  settle(uid: number, result: MailResult | undefined): void {
    this.#waiting.delete(uid);
    if (result === 'delayed') this.#delayed.add(uid);
    else this.#delayed.delete(uid);
  }

  clear(): void {
    this.#waiting.clear();
    this.#delayed.clear();
  }
}
