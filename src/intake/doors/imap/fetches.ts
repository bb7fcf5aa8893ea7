import type { MailboxMail } from './connection.ts';
import { isServerAnswer } from './fault.ts';
import type { ImapLimits } from './options.ts';

/** A refusal counts as much as so many lost connections. */
const LOST_PER_REFUSED = 4;

/**
 * Decides what one command fetches. After failed commands, mails are fetched one by one until the one that fails is
 * known: it must not stop the mails behind it for ever. Outlives a connection, because such a mail may end it.
 */
export class Fetches {
  readonly #limits: ImapLimits;
  /** Mails that are still fetched one by one. */
  #careful = 0;
  #suspect: { readonly uid: number; tries: number } | undefined;

  constructor(limits: ImapLimits) {
    this.#limits = limits;
  }

  *toBatches(mails: readonly MailboxMail[]): Generator<readonly MailboxMail[]> {
    for (let at = 0; at < mails.length; ) {
      const batch = mails.slice(at, at + this.#countNext(mails, at));
      yield batch;
      at += batch.length;
    }
  }

  #countNext(mails: readonly MailboxMail[], at: number): number {
    const { batchMails, batchBytes } = this.#limits;
    const max = this.#careful > 0 ? 1 : batchMails;
    let [count, bytes] = [1, mails[at]?.size ?? 0];
    for (; count < max && at + count < mails.length; count += 1) {
      bytes += mails[at + count]?.size ?? 0;
      if (bytes > batchBytes) break;
    }
    return count;
  }

  succeeded(count: number): void {
    this.#careful = Math.max(0, this.#careful - count);
    this.#suspect = undefined;
  }

  /** An answer of the server counts more than a lost connection, which can have any cause, once. */
  failed(batch: readonly MailboxMail[], error: unknown): void {
    const [first, ...others] = batch;
    if (first === undefined) return;
    const isSame = this.#suspect?.uid === first.uid;
    if (this.#suspect === undefined || !isSame) this.#suspect = { uid: first.uid, tries: 0 };
    if (others.length === 0) this.#suspect.tries += isServerAnswer(error) ? LOST_PER_REFUSED : 1;
    if (others.length === 0 || isSame || isServerAnswer(error))
      this.#careful = this.#limits.batchMails;
  }

  isHopeless({ uid }: MailboxMail): boolean {
    return this.#suspect?.uid === uid && this.#suspect.tries >= this.#limits.maxLostFetches;
  }
}
