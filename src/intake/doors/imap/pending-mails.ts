import type { ImapLimits } from './options.ts';

/** UIDs of mails in the inbox whose outcome is not known, with their sizes. */
export class PendingMails {
  readonly #limits: Pick<ImapLimits, 'maxPending' | 'maxPendingBytes'>;
  readonly #bytes = new Map<number, number>();

  constructor(limits: Pick<ImapLimits, 'maxPending' | 'maxPendingBytes'>) {
    this.#limits = limits;
  }

  get uids(): number[] {
    return [...this.#bytes.keys()];
  }

  isFull = (): boolean => {
    const bytes = this.#bytes.values().reduce((sum, one) => sum + one, 0);
    return this.#bytes.size >= this.#limits.maxPending || bytes >= this.#limits.maxPendingBytes;
  };

  add(uid: number, bytes: number): void {
    this.#bytes.set(uid, bytes);
  }

  delete(uid: number): void {
    this.#bytes.delete(uid);
  }

  clear(): void {
    this.#bytes.clear();
  }
}
