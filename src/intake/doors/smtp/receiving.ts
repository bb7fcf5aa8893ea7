import type { SmtpLimits } from './limits.ts';
import type { Message } from './message.ts';
import { noRoom } from './reply.ts';

interface Sender {
  /** As `Sessions` counts them. */
  readonly address: string;
  readonly disconnect: () => void;
}

/** The messages that are being received. Their number bounds the memory of the door. */
export class Receiving {
  readonly #limits: SmtpLimits;
  readonly #nowMs: () => number;
  /** Oldest first. */
  readonly #messages = new Map<Message, Sender>();

  constructor(limits: SmtpLimits, nowMs: () => number) {
    this.#limits = limits;
    this.#nowMs = nowMs;
  }

  /**
   * Throws a Reply when the address has all of its places. When all places of the door are taken, the address that
   * has most of them loses its oldest message, if it has more than this one would have, or if the message is slow.
   * Otherwise a few clients that send a byte a minute would keep all others out.
   */
  requireRoom(address: string): void {
    const counts = this.#count();
    const own = counts.get(address) ?? 0;
    if (own >= this.#limits.maxReceivingPerAddress) throw noRoom();
    if (this.#messages.size < this.#limits.maxReceiving) return;
    const most = Math.max(...counts.values());
    const oldest = this.#findOldest((sender) => counts.get(sender.address) === most);
    if (oldest === undefined || (most <= own + 1 && !this.#isSlow(oldest))) throw noRoom();
    this.#end(oldest);
  }

  #count(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { address } of this.#messages.values())
      counts.set(address, (counts.get(address) ?? 0) + 1);
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

  add(message: Message, sender: Sender): void {
    this.requireRoom(sender.address);
    this.#messages.set(message, sender);
  }

  delete(message: Message): void {
    this.#messages.delete(message);
  }
}
