import type { ClientRateLimitInfo, Options, Store } from 'express-rate-limit';
import { Counts } from './counts.ts';

/** The counts that several processes share. A call rejects when they cannot be used. */
export interface SharedCounts {
  readonly isShared: () => boolean;
  readonly add: (client: ClientOfLimit) => Promise<ClientRateLimitInfo>;
  readonly subtract: (client: ClientOfLimit) => Promise<unknown>;
}

export interface ClientOfLimit {
  readonly limit: string;
  readonly key: string;
  readonly windowMs: number;
}

/** Counts one limit with others, and alone when that is not possible. It never rejects. */
export class FallbackStore implements Store {
  /** Keys of two limits can be the same; the library tells stores apart by this. */
  readonly prefix: string;
  readonly localKeys = false;
  readonly #limit: string;
  readonly #shared: SharedCounts;
  #windowMs = 0;
  #own = new Counts(0);

  constructor(limit: string, shared: SharedCounts) {
    this.prefix = `${limit}:`;
    this.#limit = limit;
    this.#shared = shared;
  }

  init({ windowMs }: Pick<Options, 'windowMs'>): void {
    this.#windowMs = windowMs;
    this.#own = new Counts(windowMs);
  }

  async increment(key: string): Promise<ClientRateLimitInfo> {
    if (!this.#shared.isShared()) return this.#own.add(key);
    try {
      const info = await this.#shared.add(this.#toClient(key));
      return this.#own.addShared(key, info);
    } catch {
      return this.#own.add(key);
    }
  }

  /** Subtracts where the hit was counted: a hit that others do not know of must not be taken from theirs. */
  async decrement(key: string): Promise<void> {
    if (this.#own.subtract(key)) return;
    if (!this.#shared.isShared()) return this.#own.subtractShared(key);
    try {
      await this.#shared.subtract(this.#toClient(key));
    } catch {
      this.#own.subtractShared(key);
    }
  }

  /** The library demands it. Nothing resets the counts of a client. */
  resetKey(): void {}

  #toClient(key: string): ClientOfLimit {
    return { limit: this.#limit, key, windowMs: this.#windowMs };
  }
}
