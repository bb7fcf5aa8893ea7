import type { SmtpLimits } from './limits.ts';
import type { Message } from './message.ts';
import { noRoom } from './reply.ts';

interface Sender {
  /** As `Sessions` counts them. */
  readonly address: string;
  readonly isTrusted: boolean;
  readonly disconnect: () => void;
}

interface Waiting {
  readonly message: Message;
  readonly sender: Sender;
  readonly wake: () => void;
}

/** The messages that are being received. Their number bounds the memory of the door. */
export class Receiving {
  readonly #limits: SmtpLimits;
  readonly #nowMs: () => number;
  /** Oldest first. */
  readonly #messages = new Map<Message, Sender>();
  /** Longest first. A connection has one at most. */
  readonly #waiting = new Set<Waiting>();

  constructor(limits: SmtpLimits, nowMs: () => number) {
    this.#limits = limits;
    this.#nowMs = nowMs;
  }

  /** Waits for a place; throws a Reply when there is none in time. The client's bytes wait in its connection. */
  async add(message: Message, sender: Sender): Promise<void> {
    if (this.#take(message, sender)) return;
    const { promise, resolve: wake } = Promise.withResolvers<void>();
    const waiting = { message, sender, wake };
    this.#waiting.add(waiting);
    const timer = setTimeout(wake, this.#limits.waitMs);
    await promise;
    clearTimeout(timer);
    this.#waiting.delete(waiting);
    if (!this.#messages.has(message) && !this.#take(message, sender)) throw noRoom();
  }

  /** A place that those who wait do not take is free for the next message that begins. */
  delete(message: Message): void {
    this.#messages.delete(message);
    for (const { message: next, sender, wake } of this.#waiting)
      if (!this.#messages.has(next) && this.#take(next, sender)) wake();
  }

  /** Those who wait are refused. */
  stop(): void {
    for (const { wake } of this.#waiting) wake();
  }

  /**
   * Whether there was a place. When all places of the door are taken, the address that has most of them loses its
   * oldest message, if it has more than this one would have, or if the message is slow. Otherwise a few clients that
   * send a byte a minute would keep all others out.
   */
  #take(message: Message, sender: Sender): boolean {
    const counts = this.#count();
    const own = counts.get(sender.address) ?? 0;
    if (own >= this.#limits.maxReceivingPerAddress) return false;
    if (this.#messages.size >= this.#limits.maxReceiving && !this.#endOne(counts, own))
      return false;
    this.#messages.set(message, sender);
    return true;
  }

  #endOne(counts: ReadonlyMap<string, number>, own: number): boolean {
    const most = Math.max(...counts.values());
    const oldest = this.#findOldest(
      ({ address, isTrusted }) => !isTrusted && counts.get(address) === most,
    );
    if (oldest === undefined || (most <= own + 1 && !this.#isSlow(oldest))) return false;
    this.#end(oldest);
    return true;
  }

  /** Without those of trusted addresses, which have no limit and lose no place. */
  #count(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { address, isTrusted } of this.#messages.values())
      if (!isTrusted) counts.set(address, (counts.get(address) ?? 0) + 1);
    return counts;
  }

  /** Of those that are not complete: a message that is being stored is not cut off. */
  #findOldest(isMeant: (sender: Sender) => boolean): Message | undefined {
    for (const [message, sender] of this.#messages)
      if (!message.isComplete && isMeant(sender)) return message;
    return undefined;
  }

  #isSlow(message: Message): boolean {
    return this.#nowMs() - message.startedAtMs >= this.#limits.slowMs;
  }

  #end(message: Message): void {
    const sender = this.#messages.get(message);
    message.refuse(noRoom());
    this.#messages.delete(message);
    sender?.disconnect();
  }
}
