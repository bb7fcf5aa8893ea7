import type { SmtpLimits } from './limits.ts';
import type { Message } from './message.ts';
import { noRoom } from './reply.ts';

/** The messages that are being received. Their number bounds the memory of the door. */
export class Receiving {
  readonly #limits: SmtpLimits;
  readonly #nowMs: () => number;
  /** With what ends the connection of each; oldest first. */
  readonly #messages = new Map<Message, () => void>();

  constructor(limits: SmtpLimits, nowMs: () => number) {
    this.#limits = limits;
    this.#nowMs = nowMs;
  }

  /**
   * Throws a Reply when all places are taken, after the slowest message has lost its own: otherwise forty clients that
   * send a byte a minute would keep all others out.
   */
  requireRoom(): void {
    if (this.#messages.size < this.#limits.maxReceiving) return;
    const [oldest] = this.#messages;
    if (oldest === undefined) throw noRoom();
    const [message, disconnect] = oldest;
    if (this.#nowMs() - message.startedAtMs < this.#limits.slowMs) throw noRoom();
    message.refuse(noRoom());
    this.#messages.delete(message);
    disconnect();
  }

  add(message: Message, disconnect: () => void): void {
    this.requireRoom();
    this.#messages.set(message, disconnect);
  }

  delete(message: Message): void {
    this.#messages.delete(message);
  }
}
