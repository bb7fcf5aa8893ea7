import type { SmtpLimits } from './limits.ts';
import type { Message } from './message.ts';
import { noRoom } from './reply.ts';

/** Who sends a message. */
interface Client {
  /** What limits count it under (`Session`). */
  readonly address: string;
  readonly isTrusted: boolean;
  readonly disconnect: () => void;
}

/** The messages that are being received. Their number bounds the memory of the door. */
export class Receiving {
  readonly #limits: SmtpLimits;
  readonly #nowMs: () => number;
  /** Oldest first. */
  readonly #messages = new Map<Message, Client>();
  /** Longest first. A connection has one at most. */
  readonly #waiting = new Set<{ message: Message; client: Client; wake: () => void }>();

  constructor(limits: SmtpLimits, nowMs: () => number) {
    this.#limits = limits;
    this.#nowMs = nowMs;
  }

  /** Waits for a place; throws a Reply when there is none in time. The client's bytes wait in its connection. */
  async add(message: Message, client: Client): Promise<void> {
    if (this.#take(message, client)) return;
    const { promise, resolve: wake } = Promise.withResolvers<void>();
    const waiting = { message, client, wake };
    this.#waiting.add(waiting);
    const timer = setTimeout(wake, this.#limits.waitMs);
    await promise;
    clearTimeout(timer);
    this.#waiting.delete(waiting);
    if (!this.#messages.has(message) && !this.#take(message, client)) throw noRoom();
  }

  /** A place that those who wait do not take is free for the next message that begins. */
  delete(message: Message): void {
    this.#messages.delete(message);
    for (const { message: next, client, wake } of this.#waiting)
      if (!this.#messages.has(next) && this.#take(next, client)) wake();
  }

  /** Refuses the messages that wait. */
  stop(): void {
    for (const { wake } of this.#waiting) wake();
  }

  /**
   * Whether there was a place. When all places of the door are taken, the address that has most of them loses its
   * oldest message, if it has more than this one would have, or if the message is slow. Otherwise a few clients that
   * send a byte a minute would keep all others out.
   */
  #take(message: Message, client: Client): boolean {
    const counts = this.#count();
    const own = counts.get(client.address) ?? 0;
    if (own >= this.#limits.maxReceivingPerAddress) return false;
    if (this.#messages.size >= this.#limits.maxReceiving && !this.#endOne(counts, own))
      return false;
    this.#messages.set(message, client);
    return true;
  }

  #endOne(counts: ReadonlyMap<string, number>, own: number): boolean {
    const most = Math.max(...counts.values());
    // A message that is complete is being stored, and is not cut off.
    const mayEnd = ([{ isComplete }, { address, isTrusted }]: readonly [Message, Client]) =>
      !isComplete && !isTrusted && counts.get(address) === most;
    const [message, client] = this.#messages.entries().find(mayEnd) ?? [];
    if (message === undefined || client === undefined) return false;
    const isSlow = this.#nowMs() - message.startedAtMs >= this.#limits.slowMs;
    if (most <= own + 1 && !isSlow) return false;
    message.refuse(noRoom());
    this.#messages.delete(message);
    client.disconnect();
    return true;
  }

  /** Leaves out trusted addresses, which have no limit and lose no place. */
  #count(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { address, isTrusted } of this.#messages.values())
      if (!isTrusted) counts.set(address, (counts.get(address) ?? 0) + 1);
    return counts;
  }
}
